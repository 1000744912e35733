// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Models whose decoder has self-attention layers beside cross layers, over an encoder's keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/scenario/contents.h"
#include "lib/scenario/problem_of.h"
#include "lib/scenario/scenario.h"
#include "lib/scenario/testing/case_ids.h"

namespace attnbench {
namespace {

using testing::ElementsAre;

constexpr const char* kSmall =
    "defaults: {model: {heads_q: 4, heads_kv: 4, head_dim: 64}, layers: {full: 2, cross: 3}, "
    "kv_cache: {page_size: 16}}\n";

Scenario with_encoders(const std::string& text) { return parse_scenario(text, "encoders.yaml"); }

/// The full and the cross case of a batch.
std::vector<Case> step_of_batch(const std::string& batch, const std::string& more = "") {
  return with_encoders(kSmall + more + "mixes: {a: {batch: " + batch + "}}\n").cases;
}

std::vector<std::int64_t> keys_read(const Case& c) {
  std::vector<std::int64_t> lens;
  for (const Request& request : c.requests) lens.push_back(request.kv_len);
  return lens;
}

std::vector<std::int64_t> queries_of(const Case& c) {
  std::vector<std::int64_t> lens;
  for (const Request& request : c.requests) lens.push_back(request.q_len);
  return lens;
}

std::vector<std::int64_t> decoders_of(const Case& c) {
  std::vector<std::int64_t> lens;
  for (const Request& request : c.requests) lens.push_back(request.decoder_len);
  return lens;
}

std::vector<bool> encoders_cached(const Case& c) {
  std::vector<bool> flags;
  for (const Request& request : c.requests) flags.push_back(request.encoder_cached);
  return flags;
}

TEST(CrossLayers, are_a_case_over_the_encoders_keys_beside_one_over_the_decoders) {
  const Scenario scenario = with_encoders(
      std::string(kSmall) +
      "mixes: {a: {batch: [{mode: decode, kv_len: [1, 30], encoder_len: [50, 9]}]}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAre("a/full", "a/cross"));
  const Case &full = scenario.cases[0], &cross = scenario.cases[1];
  EXPECT_THAT(keys_read(full), ElementsAre(1, 30));
  EXPECT_TRUE(full.layer.causal);
  EXPECT_FALSE(full.layer.is_cross_attention);
  EXPECT_THAT(keys_read(cross), ElementsAre(50, 9));
  EXPECT_TRUE(cross.layer.is_cross_attention);
  EXPECT_FALSE(cross.layer.causal);
  EXPECT_EQ(cross.mode, ForwardMode::kDecode);
  EXPECT_EQ(full.model_layers.layers, 2);
  EXPECT_EQ(cross.model_layers.layers, 3);
  EXPECT_EQ(cross.model_layers.of_step, 5);
  EXPECT_EQ(cross.model_note, "");
}

TEST(CrossLayers, of_a_preset_have_the_models_encoder_unless_an_entry_says_otherwise) {
  const Scenario scenario = with_encoders(
      "defaults: {model: whisper-large-v3, layers: all}\n"
      "mixes: {a: {batch: 2q1s30_1q4}, b: {batch: [{mode: decode, kv_len: 9, encoder_len: 0}]}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAre("a/full", "a/cross", "b/full", "b/cross"));
  EXPECT_THAT(keys_read(scenario.cases[1]), ElementsAre(1500, 1500, 1500));
  EXPECT_THAT(queries_of(scenario.cases[1]), ElementsAre(1, 1, 4));
  EXPECT_EQ(scenario.cases[1].layer.heads_q, 20);
  EXPECT_EQ(scenario.cases[1].layer.head_dim_qk, 64);
  EXPECT_EQ(scenario.cases[1].model_layers.layers, 32);
  EXPECT_THAT(keys_read(scenario.cases[3]), ElementsAre(0)) << "a request without an encoder";
}

TEST(CrossLayers, can_be_run_alone) {
  const Scenario scenario = with_encoders(
      "defaults: {layer: cross}\n"
      "mixes:\n"
      "  inline: {model: {heads_q: 4, heads_kv: 2, head_dim: 64}, batch: [{mode: decode, kv_len: "
      "3, encoder_len: 7}]}\n"
      "  preset: {model: llama-3.2-11b-vision, tp: 4, batch: 3q1s100}\n");
  EXPECT_THAT(keys_read(scenario.cases[0]), ElementsAre(7));
  EXPECT_THAT(keys_read(scenario.cases[1]), ElementsAre(6404, 6404, 6404));
  EXPECT_EQ(scenario.cases[1].layer.heads_q, 8);
  EXPECT_EQ(scenario.cases[1].layer.heads_kv, 2);
}

// The engine's rule is SGLang's prepare_encoder_info_extend: a decode finds the encoder's keys in
// the cache, and so does an extend that is not the prompt's first.
TEST(CrossLayers, have_a_new_encoder_where_a_prompt_begins_and_a_cached_one_elsewhere) {
  const std::vector<Case> cases = step_of_batch(
      "[{mode: extend, q_len: 33, prefix_len: 0, encoder_len: 90}, "
      "{mode: extend, q_len: 33, prefix_len: 1, encoder_len: 91}, "
      "{mode: extend, prompt_len: 100, chunk: {size: 48, index: 0}, encoder_len: 92}, "
      "{mode: extend, prompt_len: 100, chunk: {size: 48, index: 2}, encoder_len: 93}, "
      "{mode: extend, q_len: 5, prefix_len: 0, encoder_len: 0}, "
      "{mode: decode, kv_len: 1, encoder_len: 94}]");
  EXPECT_THAT(queries_of(cases[1]), ElementsAre(33, 33, 48, 4, 5, 1));
  EXPECT_THAT(encoders_cached(cases[1]), ElementsAre(false, true, false, true, true, true));
  EXPECT_THAT(encoders_cached(cases[0]), ElementsAre(true, true, true, true, true, true));
  EXPECT_EQ(cases[1].model_layers.kv_shared, 0) << "each layer writes some encoder's keys";
  const std::vector<Case> decodes = step_of_batch("[{mode: decode, kv_len: 1, encoder_len: 94}]");
  EXPECT_EQ(decodes[1].model_layers.kv_shared, 3) << "no layer writes any";
  EXPECT_EQ(decodes[0].model_layers.kv_shared, 0);
}

TEST(CrossLayers, know_how_long_the_decoders_are) {
  const std::vector<Case> cases = step_of_batch(
      "[{mode: extend, prompt_len: 100, chunk: {size: 48, index: 1}, encoder_len: 65}, "
      "{mode: decode, kv_len: 30, encoder_len: 7}]");
  EXPECT_THAT(decoders_of(cases[1]), ElementsAre(96, 30));
  EXPECT_THAT(decoders_of(cases[0]), ElementsAre(0, 0)) << "there kv_len says it";
  const Scenario alone = with_encoders(
      "mixes: {a: {model: {heads_q: 4, heads_kv: 4, head_dim: 64}, attention: {cross: true}, "
      "batch: [{mode: decode, kv_len: 7}]}}\n");
  EXPECT_THAT(decoders_of(alone.cases[0]), ElementsAre(0)) << "nothing says it";
}

TEST(CrossLayers, have_the_queries_of_the_full_layers_behind_a_shared_prefix) {
  const std::vector<Case> cases =
      step_of_batch("[{count: 2, mode: extend, prefix: system, q_len: 9, encoder_len: [64, 3]}]",
                    "prefixes: {system: 40}\n");
  EXPECT_THAT(queries_of(cases[0]), ElementsAre(17, 17)) << "8 tokens of the prefix fill no page";
  EXPECT_THAT(queries_of(cases[1]), ElementsAre(17, 17));
  EXPECT_THAT(keys_read(cases[1]), ElementsAre(64, 3));
  EXPECT_TRUE(cases[1].prefixes.empty()) << "encoders share nothing";
  EXPECT_EQ(cases[1].requests[0].shared_prefix, -1);
  EXPECT_EQ(cases[1].requests[0].shared_len, 0);
  EXPECT_THAT(encoders_cached(cases[1]), ElementsAre(true, true));
}

TEST(CrossLayers, have_the_nodes_of_draft_trees_over_cached_encoders) {
  const std::vector<Case> cases = step_of_batch(
      "[{mode: target_verify, prefix_len: [30, 0], encoder_len: [90, 7], "
      "tree: {parents: [-1, 0, 0, 1]}}]");
  const Case &full = cases[0], &cross = cases[1];
  EXPECT_EQ(cross.mode, ForwardMode::kTargetVerify);
  EXPECT_THAT(keys_read(full), ElementsAre(34, 4));
  EXPECT_THAT(keys_read(cross), ElementsAre(90, 7));
  EXPECT_THAT(queries_of(cross), ElementsAre(4, 4));
  EXPECT_EQ(cross.requests[0].tree_parents, full.requests[0].tree_parents);
  EXPECT_THAT(encoders_cached(cross), ElementsAre(true, true)) << "a draft begins no prompt";
  EXPECT_FALSE(problem_of(full).drafts_are_chains);
  EXPECT_TRUE(problem_of(cross).drafts_are_chains) << "no node is hidden from any";
}

TEST(CrossLayers, draw_lengths_of_encoders_apart_from_the_decoders) {
  const std::vector<Case> cases = step_of_batch(
      "[{count: 8, mode: decode, kv_len: {uniform: [1, 900]}, encoder_len: {uniform: [1, 900]}}]");
  const std::vector<Case> alone =
      step_of_batch("[{count: 8, mode: decode, kv_len: {uniform: [1, 900]}, encoder_len: 5}]");
  EXPECT_EQ(keys_read(cases[0]), keys_read(alone[0])) << "the decoders' do not depend on encoders";
  EXPECT_NE(keys_read(cases[0]), keys_read(cases[1]));
}

TEST(CrossLayers, are_swept_along_their_encoders_length) {
  const Scenario scenario =
      with_encoders(std::string(kSmall) +
                    "mixes: {a: {batch: [{mode: decode, kv_len: 4, encoder_len: 5}]}}\n"
                    "sweep: {grid: {\"batch[0].encoder_len\": [16, 32]}}\n");
  ASSERT_EQ(scenario.cases.size(), 4u);
  EXPECT_THAT(keys_read(scenario.cases[1]), ElementsAre(16));
  EXPECT_THAT(keys_read(scenario.cases[2]), ElementsAre(4));
  EXPECT_THAT(keys_read(scenario.cases[3]), ElementsAre(32));
}

TEST(WithStep, of_a_cross_layer_writes_the_new_encoders_alone_as_prompts) {
  const Case cross = step_of_batch(
      "[{mode: decode, kv_len: 4, encoder_len: 20}, "
      "{mode: extend, q_len: 3, prefix_len: 0, encoder_len: [30, 7]}]")[1];
  const Case write = with_step(cross, StepPart::kKvWrite);
  EXPECT_EQ(write.step, StepPart::kKvWrite);
  EXPECT_EQ(write.id, cross.id);
  EXPECT_EQ(write.mode, ForwardMode::kExtend);
  EXPECT_FALSE(write.layer.is_cross_attention) << "its keys are those of the step's own tokens";
  EXPECT_THAT(queries_of(write), ElementsAre(30, 7));
  EXPECT_THAT(keys_read(write), ElementsAre(30, 7));
  EXPECT_EQ(write.requests[0].new_keys(), 30);

  // The rows that are written are those that attention reads.
  const Contents written(write, Fill::kNormal), read(cross, Fill::kNormal);
  std::vector<float> a(64), b(64);
  for (const std::int64_t position : {0, 6}) {
    written.k_row(1, position, 2, a);
    read.k_row(2, position, 2, b);
    EXPECT_EQ(a, b) << position;
  }
}

TEST(WithStep, of_a_cross_layer_is_the_case_itself_where_nothing_is_new_or_it_attends) {
  const Case cross = step_of_batch("[{mode: decode, kv_len: 4, encoder_len: 20}]")[1];
  const Case prompt =
      step_of_batch("[{mode: extend, q_len: 3, prefix_len: 0, encoder_len: 20}]")[1];
  EXPECT_TRUE(with_step(cross, StepPart::kKvWrite).layer.is_cross_attention);
  EXPECT_TRUE(with_step(prompt, StepPart::kBoth).layer.is_cross_attention);
  EXPECT_TRUE(with_step(prompt, StepPart::kAttention).layer.is_cross_attention);
  EXPECT_FALSE(with_step(prompt, StepPart::kKvWrite).layer.is_cross_attention);
}

}  // namespace
}  // namespace attnbench
