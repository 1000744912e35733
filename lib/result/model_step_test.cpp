// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/model_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/result/record_fields.h"
#include "lib/result/record_json.h"
#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

using testing::IsEmpty;

Record refused(Record r, const char* reason) {
  r.outcome = Unsupported{reason};
  return r;
}

Record linear(Record r) {
  r.layer.family = Family::kGatedDeltaNet;
  return r;
}

/// A cell that writes keys stands for the layers that do: all but `readers`.
Record written(Record r, int readers) {
  r.model_layers.layers -= readers;
  return r;
}

TEST(ModelSteps, sum_layers_of_each_kind_and_plan_once_a_kind) {
  const auto steps = model_steps(
      run_with_layers({layer_record("full", "a", 100), layer_record("sliding", "a", 30)}));
  ASSERT_EQ(steps.size(), 1u) << "one backend is no choice";
  const ModelStep& step = steps[0];
  EXPECT_EQ(step.step, "chat");
  EXPECT_EQ(step.backend, "a");
  EXPECT_DOUBLE_EQ(step.us(), 12 * 100 + 36 * 30 + 2 * 10);
  EXPECT_DOUBLE_EQ(step.us() - step.lo_us(), 48 * 1);
  EXPECT_DOUBLE_EQ(step.hi_us() - step.us(), 48 * 2);
  EXPECT_TRUE(step.has_interval());
  EXPECT_FALSE(step.with_kv_write());
}

TEST(ModelSteps, count_the_update_of_a_recorded_graph_in_the_place_of_a_plan) {
  Record full = layer_record("full", "a", 100), sliding = layer_record("sliding", "a", 30);
  for (Record* r : {&full, &sliding}) {
    r->launch = LaunchMode::kGraph;
    r->update = {3, 4};
  }
  EXPECT_DOUBLE_EQ(model_steps(run_with_layers({full, sliding}))[0].us(),
                   12 * 100 + 36 * 30 + 2 * 3);
}

TEST(ModelSteps, have_no_interval_where_a_layer_has_none) {
  Record brief = layer_record("full", "a", 100);
  brief.timing.rounds = 3;
  const auto steps = model_steps(run_with_layers({brief, layer_record("sliding", "a", 30)}));
  EXPECT_TRUE(steps[0].exists());
  EXPECT_FALSE(steps[0].has_interval());
}

TEST(ModelSteps, take_the_best_backend_of_each_kind) {
  const auto steps = model_steps(
      run_with_layers({layer_record("full", "a", 100), layer_record("full", "b", 90),
                       layer_record("sliding", "a", 30), layer_record("sliding", "b", 40)}));
  ASSERT_EQ(steps.size(), 3u);
  const ModelStep& best = steps[2];
  EXPECT_EQ(best.backend, "");
  ASSERT_EQ(best.parts.size(), 2u);
  EXPECT_EQ(best.parts[0].backend, "b");
  EXPECT_EQ(best.parts[1].backend, "a");
  EXPECT_DOUBLE_EQ(best.us(), 12 * 90 + 36 * 30 + 2 * 10);
}

TEST(ModelSteps, offer_no_choice_where_a_single_backend_ran) {
  EXPECT_EQ(
      model_steps(run_with_layers({layer_record("full", "a", 100), layer_record("sliding", "a", 30),
                                   refused(layer_record("full", "b", 1), "no")}))
          .size(),
      1u);
}

TEST(ModelSteps, of_a_backend_that_lacks_a_kind_are_no_sum_but_its_reason) {
  const RunResult run = run_with_layers(
      {layer_record("full", "a", 100), refused(layer_record("full", "b", 1), "no heads"),
       refused(layer_record("sliding", "a", 1), "no windows"), layer_record("sliding", "b", 40),
       refused(layer_record("full", "c", 1), "no"),
       refused(layer_record("sliding", "c", 1), "no")});
  const auto steps = model_steps(run);
  ASSERT_EQ(steps.size(), 3u) << "c ran nothing";
  EXPECT_EQ(steps[2].backend, "") << "a and b are a choice";
  EXPECT_FALSE(steps[0].exists());
  EXPECT_EQ(steps[0].reason, "sliding: unsupported: no windows");
  EXPECT_EQ(steps[1].reason, "full: unsupported: no heads");
  EXPECT_DOUBLE_EQ(steps[2].us(), 12 * 100 + 36 * 40 + 2 * 10);
}

TEST(ModelSteps, count_neither_wrong_nor_mistrusted_layers) {
  Record wrong = layer_record("full", "a", 100);
  wrong.outcome = Incorrect{"NaN", true};
  Record mistrusted = layer_record("full", "b", 100);
  mistrusted.outcome = Completed{Check::kMistrusted, Speed::kClaimed, "zeros"};
  const auto steps = model_steps(run_with_layers(
      {wrong, mistrusted, layer_record("sliding", "a", 30), layer_record("sliding", "b", 30)}));
  ASSERT_EQ(steps.size(), 2u) << "no best one either";
  EXPECT_EQ(steps[0].reason, "full: INCORRECT: NaN");
  EXPECT_EQ(steps[1].reason, "full: MISTRUSTED: zeros");
}

TEST(ModelSteps, add_the_write_of_keys_where_all_layers_with_keys_have_it) {
  std::vector<Record> records = {
      layer_record("full", "a", 100), layer_record("full", "a", 5, StepPart::kKvWrite),
      layer_record("sliding", "a", 30), layer_record("sliding", "a", 33, StepPart::kBoth)};
  ModelStep step = model_steps(run_with_layers(records))[0];
  EXPECT_TRUE(step.with_kv_write());
  EXPECT_DOUBLE_EQ(step.us(), 12 * (100 + 5) + 36 * 33 + 2 * 10);
  records.pop_back();
  step = model_steps(run_with_layers(records))[0];
  EXPECT_FALSE(step.with_kv_write());
  EXPECT_DOUBLE_EQ(step.us(), 12 * 100 + 36 * 30 + 2 * 10);
}

Record sparse(Record r) {
  r.layer.selection.topk = 2048;
  return r;
}

TEST(ModelSteps, add_the_fastest_choice_of_keys_whoever_attends) {
  const Record a = sparse(layer_record("full", "a", 100)),
               b = sparse(layer_record("full", "b", 90));
  const Record sliding = layer_record("sliding", "a", 30);
  const Record slow = sparse(layer_record("full", "x", 9, StepPart::kIndexer));
  const Record fast = sparse(layer_record("full", "y", 5, StepPart::kIndexer));
  const Record other = sparse(layer_record("full", "v", 8, StepPart::kIndexer));
  const Record select = sparse(layer_record("full", "z", 7, StepPart::kSelect));
  Record wrong = sparse(layer_record("full", "w", 1, StepPart::kSelect));
  wrong.outcome = Incorrect{"row 5", true};
  const auto steps =
      model_steps(run_with_layers({slow, fast, other, select, wrong, a, b, sliding}));
  ASSERT_EQ(steps.size(), 3u) << "x, y, v, z and w attend to nothing";
  EXPECT_DOUBLE_EQ(steps[0].us(), 12 * (100 + 5 + 7) + 36 * 30 + 4 * 10);
  EXPECT_FALSE(steps[0].lacks_choice);
  ASSERT_EQ(steps[0].parts.size(), 4u);
  EXPECT_EQ(steps[0].parts[2].backend, "y");
  EXPECT_EQ(steps[0].parts[3].step, StepPart::kSelect);
  EXPECT_FALSE(steps[1].exists()) << "b runs no sliding layers";
  EXPECT_DOUBLE_EQ(steps[2].us(), 12 * (90 + 5 + 7) + 36 * 30 + 4 * 10);
}

TEST(ModelSteps, add_the_fastest_compressor_where_one_was_measured) {
  const Record full = layer_record("full", "a", 100), sliding = layer_record("sliding", "a", 30);
  const Record slow = layer_record("full", "x", 9, StepPart::kCompress);
  const Record fast = layer_record("full", "y", 5, StepPart::kCompress);
  const auto steps = model_steps(run_with_layers({slow, fast, full, sliding}));
  ASSERT_EQ(steps.size(), 1u) << "x and y attend to nothing";
  EXPECT_DOUBLE_EQ(steps[0].us(), 12 * (100 + 5) + 36 * 30 + 3 * 10);
  ASSERT_EQ(steps[0].parts.size(), 3u);
  EXPECT_EQ(steps[0].parts[2].step, StepPart::kCompress);
  EXPECT_EQ(steps[0].parts[2].backend, "y");
}

TEST(ModelSteps, take_a_pipeline_for_attention_and_the_choice_of_its_keys) {
  const Record sliding = layer_record("sliding", "x+y+a", 30);
  const Record whole = sparse(layer_record("full", "x+y+a", 110, StepPart::kPipeline));
  const ModelStep step = model_steps(run_with_layers({whole, sliding}))[0];
  EXPECT_DOUBLE_EQ(step.us(), 12 * 110 + 36 * 30 + 2 * 10);
  EXPECT_FALSE(step.lacks_choice);
  EXPECT_EQ(step.parts[0].step, StepPart::kPipeline);
  const Record alone = sparse(layer_record("full", "a", 100));
  const auto steps = model_steps(
      run_with_layers({whole, sliding, alone, layer_record("sliding", "a", 31),
                       sparse(layer_record("full", "b", 90)), layer_record("sliding", "b", 32)}));
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[3].parts[0].backend, "x+y+a") << "b's attention is faster, and chooses nothing";
  EXPECT_FALSE(steps[3].lacks_choice);
}

TEST(ModelSteps, take_layers_without_chosen_keys_of_a_pipelines_attention) {
  const Record whole = sparse(layer_record("full", "x+y+a", 110, StepPart::kPipeline));
  const Record refusal =
      refused(layer_record("sliding", "x+y+a", 0, StepPart::kPipeline), "no selection");
  const Record alone = sparse(layer_record("full", "a", 100));
  const auto steps =
      model_steps(run_with_layers({whole, refusal, alone, layer_record("sliding", "a", 30)}));
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_DOUBLE_EQ(steps[0].us(), 12 * 110 + 36 * 30 + 2 * 10);
  EXPECT_EQ(steps[0].parts[1].backend, "a");
  EXPECT_TRUE(steps[1].lacks_choice);
  EXPECT_DOUBLE_EQ(steps[2].us(), steps[0].us());
  EXPECT_DOUBLE_EQ(
      model_steps(run_with_layers({alone, layer_record("sliding", "a", 30), whole}))[2].us(),
      steps[0].us())
      << "in any order";

  // Linear layers are another backend's, which the best of each kind stands for.
  Record state = linear(layer_record("sliding", "a", 0));
  state = refused(state, "no recurrent layers");
  const auto hybrid = model_steps(run_with_layers(
      {whole, linear(refusal), alone, state, linear(layer_record("sliding", "g", 20))}));
  ASSERT_EQ(hybrid.size(), 4u);
  EXPECT_EQ(hybrid[0].reason, "sliding: unsupported: no recurrent layers");
  EXPECT_DOUBLE_EQ(hybrid[3].us(), 12 * 110 + 36 * 20 + 2 * 10);
  EXPECT_FALSE(hybrid[3].lacks_choice);
}

TEST(ModelSteps, add_the_attention_of_layers_that_share_lists_to_a_pipeline) {
  Record whole = sparse(layer_record("full", "x+y+a", 110, StepPart::kPipeline));
  whole.model_layers = {"full", 4, 12, ""};  // of 12, whose keys 4 take
  Record alone = sparse(layer_record("full", "a", 100));
  Record index = sparse(layer_record("full", "x", 5, StepPart::kIndexer));
  alone.model_layers = {"full", 12, 12, ""};
  index.model_layers = {"full", 4, 12, ""};
  const auto steps = model_steps(run_with_layers({whole, alone, index}));
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_DOUBLE_EQ(steps[0].us(), 4 * 110 + 8 * 100 + 10) << "planned once";
  EXPECT_DOUBLE_EQ(steps[1].us(), 12 * 100 + 4 * 5 + 2 * 10);
  EXPECT_DOUBLE_EQ(steps[2].us(), steps[0].us());
  alone.backend = "b";
  EXPECT_EQ(model_steps(run_with_layers({whole, alone}))[0].reason,
            "full: attention of 8 layers that share lists was not measured");
  EXPECT_EQ(model_steps(run_with_layers({whole}))[0].reason, "the results have 4 of its 12 layers");
}

TEST(ModelSteps, take_a_pipeline_behind_the_write_for_all_of_a_layer) {
  constexpr const char* name = "a+x+y+a";
  Record whole = sparse(layer_record("full", name, 120, StepPart::kLayer));
  const Record sliding = layer_record("sliding", name, 35, StepPart::kBoth);
  const ModelStep step = model_steps(run_with_layers({whole, sliding}))[0];
  EXPECT_TRUE(step.with_kv_write());
  EXPECT_FALSE(step.lacks_choice);
  EXPECT_DOUBLE_EQ(step.us(), 12 * 120 + 36 * 35 + 2 * 10);
  EXPECT_EQ(step.parts[0].step, StepPart::kLayer);
  const Record unwritten = layer_record("sliding", "a", 30);
  EXPECT_EQ(model_steps(run_with_layers({whole, unwritten}))[0].reason,
            "full: measured behind the write only, which other layers lack");

  whole.model_layers = {"full", 4, 12, ""};  // of 12, whose keys 4 take
  Record both = sparse(layer_record("full", "a", 105, StepPart::kBoth));
  both.model_layers = {"full", 12, 12, ""};
  EXPECT_DOUBLE_EQ(model_steps(run_with_layers({whole, both}))[0].us(), 4 * 120 + 8 * 105 + 10);
  both.backend = "b";
  EXPECT_EQ(model_steps(run_with_layers({whole, both}))[0].reason,
            "full: attention of 8 layers that share lists was not measured");
}

TEST(ModelSteps, say_where_the_choice_of_keys_is_not_measured) {
  const Record full = sparse(layer_record("full", "a", 100));
  const Record sliding = layer_record("sliding", "a", 30);
  EXPECT_TRUE(model_steps(run_with_layers({full, sliding}))[0].lacks_choice);
  const Record index = sparse(layer_record("full", "y", 5, StepPart::kIndexer));
  const ModelStep half = model_steps(run_with_layers({full, sliding, index}))[0];
  EXPECT_TRUE(half.lacks_choice) << "nobody selects";
  EXPECT_DOUBLE_EQ(half.us(), 12 * (100 + 5) + 36 * 30 + 3 * 10);
}

TEST(ModelSteps, need_no_write_of_linear_layers) {
  const ModelStep step = model_steps(run_with_layers(
      {layer_record("full", "a", 105, StepPart::kBoth), linear(layer_record("linear", "a", 30)),
       linear(refused(layer_record("linear", "a", 1, StepPart::kBoth), "no KV cache"))}))[0];
  EXPECT_TRUE(step.with_kv_write());
  EXPECT_DOUBLE_EQ(step.us(), 12 * 105 + 36 * 30 + 2 * 10);
}

TEST(ModelSteps, need_no_write_of_cross_layers_that_only_read) {
  std::vector<Record> records = {
      layer_record("full", "a", 100), layer_record("full", "a", 5, StepPart::kKvWrite),
      layer_record("cross", "a", 30),
      written(refused(layer_record("cross", "a", 1, StepPart::kKvWrite), "cached"), 36)};
  const ModelStep decode = model_steps(run_with_layers(records))[0];
  EXPECT_TRUE(decode.with_kv_write());
  EXPECT_FALSE(decode.parts[1].with_kv_write);
  EXPECT_DOUBLE_EQ(decode.us(), 12 * (100 + 5) + 36 * 30 + 2 * 10);
  records[3] = layer_record("cross", "a", 50, StepPart::kKvWrite);  // of a prompt's new encoder
  const ModelStep prompt = model_steps(run_with_layers(records))[0];
  EXPECT_DOUBLE_EQ(prompt.us(), 12 * (100 + 5) + 36 * (30 + 50) + 2 * 10);
  records[3] = refused(records[3], "it writes no KV cache");
  EXPECT_FALSE(model_steps(run_with_layers(records))[0].with_kv_write());
}

Record without_keys(Record r) {
  r.kv_tokens = 0;
  r.outcome = Completed{Check::kMistrusted, Speed::kClaimed, "no row sees a key"};
  return r;
}

TEST(ModelSteps, skip_cross_layers_where_no_request_has_an_encoder) {
  const Record cross = without_keys(layer_record("cross", "a", 30));
  RunResult run = run_with_layers(
      {layer_record("full", "a", 100), layer_record("full", "a", 5, StepPart::kKvWrite), cross,
       written(refused(layer_record("cross", "a", 1, StepPart::kKvWrite), "cached"), 36)});
  const ModelStep step = model_steps(run)[0];
  EXPECT_EQ(step.reason, "");
  EXPECT_DOUBLE_EQ(step.us(), 12 * (100 + 5) + 10);
  EXPECT_TRUE(step.with_kv_write());
  EXPECT_TRUE(step.has_interval());
  ASSERT_EQ(step.parts.size(), 2u);
  EXPECT_EQ(step.parts[1].layers, 36);
  run.records.push_back(layer_record("full", "b", 90));
  run.records.push_back(without_keys(layer_record("cross", "b", 20)));
  const std::vector<ModelStep> steps = model_steps(run);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_DOUBLE_EQ(steps[1].us(), 12 * 90 + 10);
  EXPECT_EQ(steps[2].parts.size(), 2u) << "the best of each kind skips them, too";
  run.records = {layer_record("full", "a", 100), layer_record("cross", "a", 30)};
  run.records[1].outcome = cross.outcome;
  EXPECT_FALSE(model_steps(run)[0].exists()) << "some request has an encoder";
}

TEST(ModelSteps, of_writes_alone_say_that_attention_was_not_measured) {
  const auto steps = model_steps(run_with_layers(
      {layer_record("full", "a", 5, StepPart::kKvWrite),
       written(refused(layer_record("cross", "a", 1, StepPart::kKvWrite), "cached"), 36)}));
  EXPECT_EQ(steps.at(0).reason, "full: attention was not measured");
}

TEST(ModelSteps, compare_backends_with_the_write_or_all_without_it) {
  const auto steps = model_steps(run_with_layers(
      {layer_record("full", "a", 100), layer_record("full", "a", 104, StepPart::kBoth),
       layer_record("sliding", "a", 30), layer_record("sliding", "a", 31, StepPart::kBoth),
       layer_record("full", "b", 90), layer_record("sliding", "b", 29)}));
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_TRUE(steps[2].with_kv_write());
  EXPECT_EQ(steps[2].parts[0].backend, "a") << "b is faster without the write";
}

TEST(ModelSteps, never_mix_devices) {
  Record on_gpu = layer_record("full", "a", 10), on_cpu = layer_record("sliding", "b", 30);
  on_gpu.device = "GPU";
  const auto steps = model_steps(run_with_layers({on_gpu, on_cpu}));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].reason, "sliding: it was not run");
  EXPECT_EQ(steps[1].reason, "full: it was not run");
}

TEST(ModelSteps, of_a_part_of_a_sweep_say_which_share_they_have) {
  const auto steps = model_steps(run_with_layers({layer_record("full", "a", 100)}));
  EXPECT_FALSE(steps.at(0).exists());
  EXPECT_EQ(steps.at(0).reason, "the results have 12 of its 48 layers");
}

TEST(ModelSteps, keep_conditions_and_points_of_a_sweep_apart_and_skip_the_second_of_a_pair) {
  Record warm = layer_record("full", "a", 1), other = layer_record("full", "a", 2);
  warm.cache = CacheState::kWarm;
  other.case_id = "chat/ps16,full";
  Record second = layer_record("full", "a#2", 3), alone = layer_record("full", "a", 4);
  alone.model_layers = {};
  alone.case_id = "alone";
  const auto steps =
      model_steps(run_with_layers({warm, other, layer_record("full", "a", 3), second, alone}));
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[1].step, "chat/ps16");
}

TEST(ModelSteps, follow_from_records_that_a_file_brought_back) {
  Record r = layer_record("full", "a", 100);
  r.model_layers.left_out = "3 linear";
  const Record back = record_from_json(record_json(r));
  EXPECT_EQ(back.model_layers.kind, "full");
  EXPECT_EQ(back.model_layers.layers, 12);
  EXPECT_EQ(back.model_layers.of_step, 48);
  EXPECT_EQ(back.model_layers.left_out, "3 linear");
  EXPECT_EQ(model_steps_json(run_with_layers({back})), model_steps_json(run_with_layers({r})));
}

TEST(ModelSteps, are_silent_where_no_mix_has_layers) {
  const RunResult run = sample_run();
  EXPECT_THAT(model_steps(run), IsEmpty());
  EXPECT_EQ(model_steps_json(run), Json::array());
}

TEST(ModelSteps, leave_the_write_out_of_layers_that_read_the_keys_of_others) {
  const Record sliding = layer_record("sliding", "a", 30),
               sliding_both = layer_record("sliding", "a", 33, StepPart::kBoth);
  const Record full = layer_record("full", "a", 100);
  const auto together = model_steps(run_with_layers(
      {full, written(layer_record("full", "a", 110, StepPart::kBoth), 4), sliding, sliding_both}));
  ASSERT_EQ(together.size(), 1u);
  EXPECT_DOUBLE_EQ(together[0].us(), 8 * 110 + 4 * 100 + 36 * 33 + 2 * 10);
  EXPECT_TRUE(together[0].with_kv_write());
  const auto apart = model_steps(run_with_layers(
      {written(layer_record("full", "a", 7, StepPart::kKvWrite), 4), full, sliding, sliding_both}));
  EXPECT_DOUBLE_EQ(apart[0].us(), 8 * 107 + 4 * 100 + 36 * 33 + 2 * 10);
  const auto alone = model_steps(
      run_with_layers({written(layer_record("full", "a", 110, StepPart::kBoth), 4), sliding_both}));
  EXPECT_EQ(alone[0].reason, "the results have 44 of its 48 layers");
}

TEST(ModelSteps, in_json_have_null_where_there_is_no_sum) {
  const Json steps = model_steps_json(run_with_layers(
      {layer_record("full", "a", 100), refused(layer_record("full", "b", 1), "no heads"),
       layer_record("sliding", "a", 30), layer_record("sliding", "b", 40)}));
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0]["model_step_us"], 2300);
  EXPECT_EQ(steps[0]["parts"][1]["layers"], 36);
  EXPECT_TRUE(steps[1]["model_step_us"].is_null());
  EXPECT_TRUE(steps[1]["lo_us"].is_null());
  EXPECT_EQ(steps[1]["reason"], "full: unsupported: no heads");
  EXPECT_TRUE(steps[2]["backend"].is_null());
}

}  // namespace
}  // namespace attnbench
