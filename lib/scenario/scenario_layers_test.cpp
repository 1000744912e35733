// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Which layer a case runs, and what its mask is.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/scenario/scenario.h"
#include "lib/scenario/testing/only_case.h"

namespace attnbench {
namespace {

TEST(Scenario, builds_a_layer_from_inline_geometry) {
  const Case c = only_case(
      "model: {heads_q: 12, heads_kv: 4, head_dim: 96, head_dim_v: 64}, tp: 2, batch: q1s8");
  EXPECT_EQ(c.model, "inline");
  EXPECT_EQ(c.layer.heads_q, 6);
  EXPECT_EQ(c.layer.heads_kv, 2);
  EXPECT_EQ(c.layer.head_dim_qk, 96);
  EXPECT_EQ(c.layer.head_dim_v, 64);
}

TEST(Scenario, scales_an_inline_mla_model_by_its_yarn) {
  const std::string mla =
      "model: {heads_q: 128, kv_lora_rank: 512, qk_nope_head_dim: 128, qk_rope_head_dim: 64";
  EXPECT_NEAR(only_case(mla + "}, batch: 4q1s300").layer.scale, 0.0721687836, 1e-10);
  EXPECT_NEAR(only_case(mla + ", rope_scaling: {type: yarn, factor: 40, mscale: 1, "
                              "mscale_all_dim: 1}}, batch: 4q1s300")
                  .layer.scale,
              0.1352337789, 1e-10);
  EXPECT_NEAR(only_case("model: deepseek-v3, batch: 4q1s300").layer.scale, 0.1352337789, 1e-10);
}

TEST(Scenario, runs_the_kind_of_layer_that_is_spelled_out) {
  const Case dense = only_case("model: deepseek-v3.2, layer: full, batch: 4q1s300");
  EXPECT_EQ(dense.layer.head_dim_qk, 576);
  EXPECT_EQ(dense.model_note.rfind("dense attention in place of the model's own", 0), 0u);
  EXPECT_EQ(
      only_case("model: gemma-3-4b, layer: sliding, batch: 4q1s300").layer.sliding_window_size,
      1023);
  EXPECT_EQ(only_case("batch: 4q1s300").model_note, "");
}

TEST(Scenario, runs_chunked_layers_of_a_model_and_of_any_other) {
  const auto chunk = [](const std::string& mix) { return only_case(mix).layer.attention_chunk; };
  EXPECT_EQ(chunk("model: llama-4-scout, layer: chunked, batch: 4q1s300"), 8192);
  EXPECT_EQ(chunk("model: llama-4-scout, layer: full, batch: 4q1s300"), 0);
  EXPECT_EQ(chunk("model: llama-4-scout, batch: 4q1s300"), 0);
  EXPECT_EQ(chunk("batch: 4q1s300"), 0);
  EXPECT_EQ(chunk("attention: {chunk: 1k}, batch: 4q1s300"), 1024);
  EXPECT_EQ(chunk("model: llama-4-scout, layer: chunked, attention: {chunk: none}, batch: q1"), 0);
  const Case both = only_case("attention: {chunk: 64, window: {keys: 16}}, batch: 4q1s300");
  EXPECT_EQ(both.layer.attention_chunk, 64);
  EXPECT_EQ(both.layer.sliding_window_size, 15);
}

TEST(Scenario, gives_layers_with_a_window_a_pool_of_their_own) {
  const auto own = [](const std::string& mix) { return only_case(mix).kv_cache.swa_pool; };
  EXPECT_TRUE(own("attention: {window: {keys: 64}}, kv_cache: {swa_pool: true}, batch: q1s300"));
  EXPECT_FALSE(own("attention: {window: {keys: 64}}, kv_cache: {swa_pool: false}, batch: q1s300"));
  EXPECT_FALSE(own("attention: {window: {keys: 64}}, batch: q1s300"));
  // The other kinds of a model's layers keep the whole pool.
  const std::string gemma = "model: gemma-3-4b, kv_cache: {swa_pool: true}, batch: q1s3k, ";
  EXPECT_TRUE(own(gemma + "layer: sliding"));
  EXPECT_FALSE(own(gemma + "layer: full"));
}

TEST(Scenario, takes_the_sizes_of_dual_chunks) {
  EXPECT_EQ(only_case("batch: 4q1s300").layer.dual_chunk, DualChunk{});
  const std::string dual = "attention: {dual_chunk: {chunk_size: 8k, local_size: 1k}";
  const AttentionLayer layer = only_case(dual + ", softcap: 30}, batch: 4q1s300").layer;
  EXPECT_EQ(layer.dual_chunk, (DualChunk{8192, 1024}));
  EXPECT_EQ(layer.query_dim(), 3 * layer.head_dim_qk);
  EXPECT_EQ(only_case("attention: {dual_chunk: none}, batch: 4q1s300").layer.dual_chunk,
            DualChunk{});
  EXPECT_EQ(only_case("attention: {dual_chunk: {chunk_size: 1, local_size: 0}}, batch: q1s30")
                .layer.dual_chunk.step(),
            1);
}

TEST(Scenario, takes_the_length_behind_which_a_temperature_rises) {
  EXPECT_EQ(only_case("attention: {temperature_len: 1k}, batch: 4q1s300").layer.temperature_len,
            1024);
  EXPECT_EQ(only_case("attention: {temperature_len: none}, batch: 4q1s300").layer.temperature_len,
            0);
}

TEST(Scenario, has_blocks_of_a_size_or_as_wide_as_a_request_s_new_tokens) {
  const Case sized = only_case(
      "batch: [{mode: dllm_extend, q_len: 96, prefix_len: 7, block: 32}, {mode: dllm_extend, "
      "q_len: 40, prefix_len: 0, block: 32}]");
  EXPECT_EQ(sized.mode, ForwardMode::kDllmExtend);
  EXPECT_EQ(sized.layer.causal_block, 32);
  EXPECT_EQ(
      only_case("batch: [{mode: dllm_extend, q_len: [32, 48], prefix_len: 64}]").layer.causal_block,
      48);
  EXPECT_EQ(only_case("batch: [{mode: dllm_extend, q_len: 8, prefix_len: 64, block: 1k}]")
                .layer.causal_block,
            8);
  EXPECT_EQ(only_case("batch: 4q8s300").layer.causal_block, 1);
}

TEST(Scenario, takes_the_items_that_a_prompt_ends_in) {
  const Case c =
      only_case("batch: [{mode: extend, count: 2, q_len: 14, prefix_len: 5, items: [3, 2, 4]}]");
  ASSERT_EQ(c.requests.size(), 2u);
  EXPECT_EQ(c.requests[1].items, (std::vector<std::int64_t>{3, 2, 4}));
  EXPECT_EQ(c.requests[1].q_len, 14) << "one token, four delimiters and nine tokens of items";
}

TEST(Scenario, sweeps_over_the_kinds_of_layer) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: gpt-oss-20b}\n"
      "mixes: {m: {batch: 4q1s300}}\n"
      "sweep: {grid: {layer: [full, sliding]}}\n",
      "s.yaml");
  ASSERT_EQ(scenario.cases.size(), 2u);
  EXPECT_EQ(scenario.cases[0].layer.sliding_window_size, -1);
  EXPECT_EQ(scenario.cases[1].layer.sliding_window_size, 127);
  EXPECT_NE(scenario.cases[0].id, scenario.cases[1].id);
}

}  // namespace
}  // namespace attnbench
