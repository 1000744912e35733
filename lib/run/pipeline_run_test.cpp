// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of pipelines, right ones and ones that hand on something else than they should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/run/testing/pipeline_run.h"

namespace attnbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// A copy of an array that stays as it was behind the first `sound` of its plan's runs.
template <class T>
struct Frozen {
  std::vector<T> values;
  int runs = 0;

  void take(const T* from, std::int64_t count, int sound) {
    if (runs++ < sound) values.assign(from, from + count);
  }
};

/// Logits of an earlier run of the plan.
Spoiling stale_logits(int sound) {
  struct State {
    Frozen<float> logits;
    IndexScores scores;
    const float* written = nullptr;
  };
  const auto state = std::make_shared<State>();
  return {.when_planned =
              [state](ForwardBatch& batch) {
                state->scores = *batch.index_scores;
                state->written = state->scores.logits;
                state->logits.values.resize(
                    static_cast<std::size_t>(state->scores.tokens * state->scores.columns));
                state->scores.logits = state->logits.values.data();
                batch.index_scores = &state->scores;
              },
          .before =
              [state, sound](const ForwardBatch&) {
                state->logits.take(state->written, std::ssize(state->logits.values), sound);
              }};
}

/// Lists of an earlier run of the plan.
Spoiling stale_lists(int sound) {
  struct State {
    Frozen<std::int32_t> lists;
    DeviceBatch device;
    const std::int32_t* written = nullptr;
  };
  const auto state = std::make_shared<State>();
  return {.when_planned =
              [state](ForwardBatch& batch) {
                state->device = *batch.device_batch;
                state->written = state->device.topk_indices;
                state->lists.values.resize(batch.chosen->indices.size());
                state->device.topk_indices = state->lists.values.data();
                batch.device_batch = &state->device;
              },
          .before =
              [state, sound](const ForwardBatch&) {
                state->lists.take(state->written, std::ssize(state->lists.values), sound);
              }};
}

/// Scores of an earlier run, beside the lists of this one.
Spoiling stale_scores(int sound) {
  struct State {
    Frozen<float> scores;
    DeviceBatch device;
    const float* written = nullptr;
  };
  const auto state = std::make_shared<State>();
  return {.when_planned =
              [state](ForwardBatch& batch) {
                state->device = *batch.device_batch;
                state->written = state->device.topk_scores;
                state->scores.values.resize(batch.chosen->indices.size());
                state->device.topk_scores = state->scores.values.data();
                batch.device_batch = &state->device;
              },
          .before =
              [state, sound](const ForwardBatch&) {
                state->scores.take(state->written, std::ssize(state->scores.values), sound);
              }};
}

TEST_F(PipelineRun, times_and_checks_every_pipeline_of_the_backends) {
  const std::vector<Record> all = records();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].backend, "indexer+topk+cpu_flash");
  EXPECT_EQ(all[1].backend, "indexer+topk+torch_native");
  for (const Record& r : all) {
    EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
    EXPECT_EQ(r.step, StepPart::kPipeline);
    EXPECT_TRUE(r.is_timed());
    EXPECT_GT(r.samples_checked, 0);
    EXPECT_GT(r.error.rows, 0) << "attention is compared";
    EXPECT_GT(r.slots_checked, 0) << "and logits and lists";
    EXPECT_THAT(r.repro, AllOf(HasSubstr("--step pipeline"), HasSubstr("indexer+topk+")));
  }
}

TEST_F(PipelineRun, takes_the_names_of_members_and_of_whole_pipelines) {
  run_.filter.backends = {"torch_native"};
  EXPECT_EQ(records().size(), 1u) << "an indexer and a selector are taken from the others";
  EXPECT_THAT(run_.filter.pipelines, ElementsAre("indexer+topk+torch_native"));
  run_.filter = {};
  EXPECT_EQ(record_of("indexer+topk+cpu_flash").verdict(), Verdict::kPassed);
  EXPECT_THAT(run_.filter.pipelines, ElementsAre());
}

TEST_F(PipelineRun, stands_beside_its_stages) {
  run_.scenario.measure.step = {StepPart::kIndexer, StepPart::kAttention, StepPart::kPipeline};
  run_.filter.backends = {"indexer", "topk", "cpu_flash"};
  std::vector<std::string> rows;
  for (const Record& r : records()) {
    if (r.is_timed()) rows.push_back(r.backend + std::string(step_suffix(r.step)));
  }
  EXPECT_THAT(rows, ElementsAre("indexer indexer", "cpu_flash", "indexer+topk+cpu_flash pipeline"));
}

TEST_F(PipelineRun, takes_units_of_each_kv_head_by_the_maxima_of_their_keys) {
  Case& c = run_.scenario.cases[0];
  c.layer.selection = {.topk = 3,
                       .unit = 8,
                       .groups = SelectionGroups::kKvHeads,
                       .score = SelectionScore::kMax,
                       .index_heads = c.layer.heads_kv};
  for (const Record& r : records()) {
    EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.backend << ": " << r.reason();
  }
  EXPECT_EQ(run_.filter.pipelines.size(), 2u);
  run_.filter = {};
  EXPECT_THAT(
      reason_of<cpu_flash::CpuFlashBackend>("indexer+topk+spoilt", [] { return stale_lists(1); }),
      HasSubstr(" chosen keys of 30"));
}

TEST_F(PipelineRun, weighs_pages_by_the_scores_that_the_selector_has_just_left) {
  Case& c = run_.scenario.cases[0];
  c.layer.selection = {.topk = 3,
                       .unit = 16,
                       .groups = SelectionGroups::kKvHeads,
                       .score = SelectionScore::kHead,
                       .index_heads = c.layer.heads_q,
                       .window = 20,
                       .fuses_window = true,
                       .softmax = SelectionSoftmax::kUnits,
                       .stale = 0.2};
  EXPECT_EQ(record_of("indexer+topk+cpu_flash").verdict(), Verdict::kPassed);
  EXPECT_THAT(record_of("indexer+topk+torch_native").reason(),
              HasSubstr("no hierarchical sparse attention"));
  EXPECT_THAT(
      reason_of<cpu_flash::CpuFlashBackend>("indexer+topk+spoilt", [] { return stale_scores(1); }),
      HasSubstr(" chosen keys of 30"));
}

/// An indexer that reads the heavy channels of the next KV head.
Spoiling channels_of_next_kv_head() {
  struct State {
    IndexerInputs inputs;
    std::vector<std::int32_t> channels;
  };
  const auto state = std::make_shared<State>();
  return {.when_planned = [state](ForwardBatch& batch) {
    const AttentionLayer& layer = batch.problem->layer;
    const std::int64_t each = layer.selection.channels;
    state->inputs = *batch.indexer;
    state->channels.assign(state->inputs.channels, state->inputs.channels + layer.heads_kv * each);
    std::ranges::rotate(state->channels, state->channels.begin() + each);
    state->inputs.channels = state->channels.data();
    batch.indexer = &state->inputs;
  }};
}

TEST_F(PipelineRun, takes_heavy_tokens_of_each_head_by_heavy_channels) {
  Case& c = run_.scenario.cases[0];
  c.layer.selection = {.topk = 16,
                       .groups = SelectionGroups::kHeads,
                       .score = SelectionScore::kChannels,
                       .index_heads = c.layer.heads_q,
                       .channels = 8};
  for (const Record& r : records()) {
    EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.backend << ": " << r.reason();
  }
  EXPECT_EQ(run_.filter.pipelines.size(), 2u);
  run_.filter = {};
  EXPECT_THAT(reason_of<indexer::HostIndexer>("spoilt+topk+cpu_flash", channels_of_next_kv_head),
              HasSubstr(" scores key "));
}

TEST_F(PipelineRun, leaves_mixes_that_choose_no_keys_to_attention) {
  Case dense = run_.scenario.cases[0];
  dense.mix = dense.id = "dense";
  dense.layer.selection = {};
  run_.scenario.cases[0].mix = run_.scenario.cases[0].id = "sparse";
  run_.scenario.cases.push_back(dense);
  run_.scenario.measure.step = {StepPart::kAttention, StepPart::kPipeline};
  run_.filter.backends = {"indexer+topk+cpu_flash", "cpu_flash"};
  add_pipeline(run_.registry, run_.filter.backends[0]);
  std::vector<std::string> rows;
  for (const Record& r : records()) {
    EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
    rows.push_back(r.case_id + " " + r.backend + std::string(step_suffix(r.step)));
  }
  EXPECT_THAT(rows, ElementsAre("sparse cpu_flash", "sparse indexer+topk+cpu_flash pipeline",
                                "dense cpu_flash"));
  std::vector<PlannedRun> runs;
  runs.push_back(std::move(run_));
  EXPECT_THAT(notes_on_steps(runs),
              ElementsAre("mix 'dense' runs without step pipeline: its layers choose no keys"));
  runs[0].scenario.cases.erase(runs[0].scenario.cases.begin());
  EXPECT_THAT(notes_on_steps(runs), ElementsAre()) << "then it is refused";
}

TEST_F(PipelineRun, says_that_there_is_no_pipeline_of_the_backends) {
  run_.registry = {};
  run_.registry.add([] { return std::make_unique<topk::HostSelector>(); });
  EXPECT_THROW(add_pipelines(run_), ConfigError);
}

TEST_F(PipelineRun, blames_an_indexer_whose_logits_are_off) {
  const auto make = [] {
    return Spoiling{.after = [](const ForwardBatch& batch) {
      const IndexOutput& logits = batch.index_outputs->arrays.front();
      auto* const first = static_cast<float*>(static_cast<void*>(logits.data));
      for (std::int64_t i = 0; i < logits.shape[0] * logits.shape[2]; ++i) first[i] *= 1.01f;
    }};
  };
  EXPECT_THAT(reason_of<indexer::HostIndexer>("spoilt+topk+cpu_flash", make),
              AllOf(StartsWith("row "), HasSubstr(" scores key ")));
}

TEST_F(PipelineRun, blames_a_selector_that_reads_logits_of_an_earlier_run) {
  EXPECT_THAT(
      reason_of<topk::HostSelector>("indexer+spoilt+cpu_flash", [] { return stale_logits(1); }),
      HasSubstr(" and takes key "));
}

TEST_F(PipelineRun, blames_attention_over_lists_of_an_earlier_run) {
  EXPECT_THAT(
      reason_of<cpu_flash::CpuFlashBackend>("indexer+topk+spoilt", [] { return stale_lists(1); }),
      HasSubstr("16 chosen keys of 30"));
}

TEST_F(PipelineRun, blames_stale_logits_of_timed_samples_alone) {
  const std::string reason = reason_of<topk::HostSelector>(
      "indexer+spoilt+cpu_flash", [] { return stale_logits(kBeforeSamples); });
  EXPECT_THAT(reason, AllOf(HasSubstr(" and takes key "), HasSubstr("timed")));
}

TEST_F(PipelineRun, blames_stale_lists_of_timed_samples_alone) {
  const std::string reason = reason_of<cpu_flash::CpuFlashBackend>(
      "indexer+topk+spoilt", [] { return stale_lists(kBeforeSamples); });
  EXPECT_THAT(reason, AllOf(HasSubstr("in timed sample"), HasSubstr("16 chosen keys of 30")));
}

TEST_F(PipelineRun, shows_attention_nothing_of_the_lists_before_the_selector_ran) {
  const auto make = [] {
    return Spoiling{.when_planned = [](ForwardBatch& batch) {
      EXPECT_THAT(batch.chosen->indices, testing::Each(-1));
      EXPECT_THAT(batch.chosen->lengths, testing::Contains(16));
      EXPECT_EQ(batch.index_scores, nullptr);
      EXPECT_EQ(batch.problem->step, StepPart::kAttention);
    }};
  };
  run_.registry.add(
      [=] { return std::make_unique<SpoiltStage<cpu_flash::CpuFlashBackend>>(make); });
  EXPECT_EQ(record_of("indexer+topk+spoilt").verdict(), Verdict::kPassed);
}

}  // namespace
}  // namespace attnbench
