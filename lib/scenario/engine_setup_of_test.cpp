// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/engine_setup_of.h"

#include <gtest/gtest.h>

#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

EngineSetup setup_of(const std::string& mix) {
  const Scenario scenario = parse_scenario("mixes:\n  m: {" + mix + "}\n", "s.yaml");
  return engine_setup_of(scenario.cases.front(), *find_engine_device("sm90"));
}

TEST(EngineSetupOf, a_case_names_its_layer_and_cache) {
  const EngineSetup plain = setup_of(
      "model: llama-3.1-8b, kv_cache: {page_size: 16, dtype: e4m3}, batch: [{mode: decode, kv_len: "
      "64}]");
  EXPECT_EQ(plain.device.name, "sm90");
  EXPECT_FALSE(plain.is_mla || plain.has_sinks || plain.has_window || plain.has_logit_cap);
  EXPECT_EQ(plain.heads_q, 32);
  EXPECT_EQ(plain.head_dim_qk, 128);
  EXPECT_EQ(plain.page_size, 16);
  EXPECT_TRUE(plain.has_fp8_cache());
  EXPECT_EQ(plain.topk, 0);
  const EngineSetup latent =
      setup_of("model: deepseek-v3, tp: 8, batch: [{mode: decode, kv_len: 64}]");
  EXPECT_TRUE(latent.is_mla);
  EXPECT_FALSE(latent.has_unequal_dims());
  EXPECT_EQ(latent.heads_q, 16);
  const EngineSetup sliding =
      setup_of("model: gpt-oss-20b, layer: sliding, batch: [{mode: decode, kv_len: 64}]");
  EXPECT_TRUE(sliding.has_sinks && sliding.has_window);
  const std::string llama_4 = "model: llama-4-scout, batch: [{mode: decode, kv_len: 64}], layer: ";
  EXPECT_TRUE(setup_of(llama_4 + "chunked").has_chunks);
  EXPECT_FALSE(setup_of(llama_4 + "full").has_chunks);
}

TEST(EngineSetupOf, a_case_has_a_topk_of_the_most_children_in_its_trees) {
  EXPECT_EQ(setup_of("model: llama-3.1-8b, batch: [{mode: target_verify, prefix_len: 64, tree: "
                     "{topk: 4, depth: 1, tokens: 5}}]")
                .topk,
            4);
  EXPECT_EQ(setup_of("model: llama-3.1-8b, batch: [{mode: target_verify, prefix_len: 64, tree: "
                     "{topk: 1, depth: 3, tokens: 4}}]")
                .topk,
            1);
}

TEST(EngineSetupOf, a_model_has_the_sorts_of_all_its_layers) {
  const EngineDevice device = *find_engine_device("sm90");
  const EngineSetup gemma = engine_setup_of(*find_model("gemma-3-12b"), 2, device);
  EXPECT_TRUE(gemma.has_window);  // though its full layers have none
  EXPECT_EQ(gemma.heads_q, 8);
  EXPECT_FALSE(engine_setup_of(*find_model("llama-3.1-8b"), 1, device).has_window);
  EXPECT_TRUE(engine_setup_of(*find_model("llama-4-scout"), 1, device).has_chunks);
  EXPECT_TRUE(engine_setup_of(*find_model("deepseek-v3.2"), 8, device).is_dsa);
  EXPECT_FALSE(engine_setup_of(*find_model("deepseek-v3"), 8, device).is_dsa);
  EXPECT_TRUE(engine_setup_of(*find_model("gpt-oss-20b"), 1, device).has_sinks);
  EXPECT_THROW(static_cast<void>(engine_setup_of(*find_model("llama-3.1-8b"), 7, device)),
               ConfigError);
}

std::string prefill_path(const std::string& mix, bool deterministic = false) {
  const Scenario scenario =
      parse_scenario("mixes:\n  m: {model: llama-3.1-8b, " + mix + "}\n", "s.yaml");
  const auto decision = prefill_of_sglang(scenario.cases.front(), deterministic);
  return decision ? std::string(to_string(decision->path)) : "";
}

TEST(PrefillOfSglang, follows_from_prefixes_items_and_determinism) {
  EXPECT_EQ(prefill_path("batch: 2q64"), "ragged");
  EXPECT_EQ(prefill_path("batch: 2q64_q64s128"), "ragged_paged");
  EXPECT_EQ(prefill_path("batch: 2q64_q1s128"), "ragged_paged") << "a decode of a mixed step";
  EXPECT_EQ(prefill_path("batch: 2q64", /*deterministic=*/true), "paged");
  EXPECT_EQ(prefill_path("batch: [{mode: extend, q_len: 40, prefix_len: 0, items: [3, 2]}]"),
            "paged");
  EXPECT_EQ(prefill_path("batch: 4q1s128"), "") << "decodes have no such choice";
}

}  // namespace
}  // namespace attnbench
