// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Mixes with `layers`: a case for each kind of a model's layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "lib/scenario/layers_reader.h"
#include "lib/scenario/scenario.h"
#include "lib/scenario/testing/case_ids.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Scenario layered(const std::string& text) { return parse_scenario(text, "layered.yaml"); }

TEST(Layers, of_all_kinds_make_a_case_each_with_its_number_of_layers) {
  const Scenario scenario = layered(
      "defaults: {model: gemma-3-27b, layers: all}\n"
      "mixes: {chat: {batch: 2q1s4k}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAre("chat/full", "chat/sliding"));
  const Case& full = scenario.cases[0];
  EXPECT_EQ(full.model_layers.kind, "full");
  EXPECT_EQ(full.model_layers.layers, 10);
  EXPECT_EQ(full.model_layers.of_step, 62);
  EXPECT_EQ(full.model_layers.left_out, "");
  EXPECT_EQ(full.layer.sliding_window_size, -1);
  EXPECT_EQ(full.mix, "chat");
  EXPECT_EQ(full.sweep, (SweptValues{{"layer", "full"}}));
  const Case& sliding = scenario.cases[1];
  EXPECT_EQ(sliding.model_layers.layers, 52);
  EXPECT_EQ(sliding.layer.sliding_window_size, 1023);
  EXPECT_EQ(sliding.requests.size(), full.requests.size());
}

TEST(Layers, join_the_labels_of_a_sweep) {
  const Scenario scenario = layered(
      "defaults: {model: gpt-oss-20b, layers: all}\n"
      "mixes: {chat: {batch: 2q1s4k}}\n"
      "sweep: {grid: {kv_cache.page_size: [1, 16]}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAre("chat/ps1,full", "chat/ps1,sliding", "chat/ps16,full",
                                              "chat/ps16,sliding"));
  EXPECT_EQ(scenario.cases[3].kv_cache.page_size, 16);
  EXPECT_EQ(step_id_of("chat/ps16,sliding", "sliding"), "chat/ps16");
  EXPECT_EQ(step_id_of("chat/full", "full"), "chat");
  EXPECT_EQ(step_id_of("chat", ""), "chat");
}

TEST(Layers, that_cannot_be_run_are_named_as_left_out) {
  const Scenario scenario = layered(
      "defaults: {model: kimi-linear-48b, layers: all}\n"
      "mixes: {chat: {batch: 2q1s4k}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAre("chat/full"));
  EXPECT_EQ(scenario.cases[0].model_layers.of_step, 7);
  EXPECT_EQ(scenario.cases[0].model_layers.left_out, "20 linear");
  EXPECT_THAT(scenario.cases[0].model_note, HasSubstr("20 linear layers are left out"));
}

TEST(Layers, of_which_some_read_the_keys_of_others_say_how_many) {
  const std::string path = testing::TempDir() + "layers_test_gemma3n.json";
  std::ofstream(path) << R"({"model_type": "gemma3n_text"})";
  const std::string model = "model: {hf_config: " + path + "}";
  const Scenario all = layered("mixes: {a: {" + model + ", layers: all, batch: q1s4k}}\n");
  EXPECT_EQ(all.cases[0].model_layers.layers, 7);
  EXPECT_EQ(all.cases[0].model_layers.kv_shared, 3);
  EXPECT_EQ(all.cases[1].model_layers.kv_shared, 12);
  const Scenario some = layered("mixes: {a: {" + model + ", layers: {full: 2}, batch: q1s4k}}\n");
  EXPECT_EQ(some.cases[0].model_layers.kv_shared, 0) << "a stage says nothing of them";
}

TEST(Layers, take_numbers_of_their_own) {
  const Scenario scenario =
      layered("mixes: {stage: {model: gpt-oss-20b, layers: {sliding: 6}, batch: 2q1s4k}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAre("stage/sliding"));
  EXPECT_EQ(scenario.cases[0].model_layers.layers, 6);
  EXPECT_EQ(scenario.cases[0].model_layers.of_step, 6);
  EXPECT_EQ(scenario.cases[0].model_layers.left_out, "12 full");
}

TEST(Layers, of_a_dense_stand_in_leave_no_sparse_ones_out) {
  const Scenario scenario =
      layered("mixes: {chat: {model: deepseek-v3.2, layers: {full: 61}, batch: q1s4k}}\n");
  EXPECT_EQ(scenario.cases[0].model_layers.left_out, "");
  EXPECT_THAT(scenario.cases[0].model_note, HasSubstr("dense attention in place"));
}

TEST(Layers, that_are_linear_have_no_cache_though_the_mix_has_one) {
  const Scenario scenario = layered(
      "defaults: {model: qwen3-next-80b-a3b, layers: all, kv_cache: {page_size: 16}}\n"
      "mixes: {chat: {attention: {softcap: 30}, batch: 2q1s4k}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAre("chat/full", "chat/linear"));
  EXPECT_EQ(scenario.cases[0].kv_cache.page_size, 16);
  EXPECT_EQ(scenario.cases[0].layer.logit_cap, 30);
  EXPECT_TRUE(scenario.cases[1].layer.is_recurrent());
  EXPECT_EQ(scenario.cases[1].model_layers.layers, 36);
}

TEST(Layers, of_a_draft_s_verification_are_all_there) {
  const Scenario scenario = layered(
      "defaults: {model: qwen3-next-80b-a3b, layers: all}\n"
      "mixes: {draft: {padding: 2, batch: [{mode: target_verify, prefix_len: 4k, tree: {chain: "
      "4}}]}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAre("draft/full", "draft/linear"));
  for (const Case& c : scenario.cases) {
    EXPECT_EQ(c.mode, ForwardMode::kTargetVerify);
    EXPECT_EQ(c.padding.requests, 2);
    EXPECT_EQ(c.model_layers.of_step, 48);
  }
}

TEST(Layers, of_a_draft_tree_s_verification_have_the_same_tree_however_it_is_written) {
  for (const char* tree : {"{chain: 4}", "{parents: [-1, 0, 1, 2]}", "{parents: [-1, 0, 0, 1]}",
                           "{topk: 2, depth: 3, tokens: 6}"}) {
    const Scenario scenario = layered(
        std::string(
            "defaults: {model: qwen3-next-80b-a3b, layers: all}\n"
            "mixes: {draft: {batch: [{count: 2, mode: target_verify, prefix_len: 4k, tree: ") +
        tree + "}]}}\n");
    ASSERT_THAT(case_ids(scenario), ElementsAre("draft/full", "draft/linear"));
    const Case &full = scenario.cases[0], &linear = scenario.cases[1];
    ASSERT_TRUE(linear.layer.is_recurrent());
    for (std::size_t r = 0; r < 2; ++r) {
      EXPECT_EQ(linear.requests[r].tree_parents, full.requests[r].tree_parents) << tree;
      EXPECT_EQ(linear.requests[r].q_len, std::ssize(linear.requests[r].tree_parents)) << tree;
    }
  }
}

TEST(Layers, of_defaults_give_way_to_a_mix_of_one_layer_and_the_other_way_round) {
  EXPECT_THAT(case_ids(layered("defaults: {model: gpt-oss-20b, layers: all}\n"
                               "mixes: {one: {layer: sliding, batch: q1s4k}}\n")),
              ElementsAre("one"));
  EXPECT_THAT(case_ids(layered("defaults: {model: gpt-oss-20b, layer: full}\n"
                               "mixes: {step: {layers: all, batch: q1s4k}}\n")),
              ElementsAre("step/full", "step/sliding"));
}

TEST(Layers, keep_their_kind_along_an_axis) {
  const std::string text =
      "defaults: {model: gpt-oss-20b, layers: all}\n"
      "mixes: {chat: {batch: [{mode: decode, count: 2, kv_len: 4k}]}}\n";
  const Scenario scenario =
      parse_scenario(text, "layered.yaml", std::nullopt,
                     CaseAxis{"chat/sliding", "batch[0].kv_len", {1024, 2048}});
  ASSERT_THAT(case_ids(scenario), ElementsAre("chat/kv_len1k,sliding", "chat/kv_len2k,sliding"));
  EXPECT_EQ(scenario.cases[1].layer.sliding_window_size, 127);
}

}  // namespace
}  // namespace attnbench
