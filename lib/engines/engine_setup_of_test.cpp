// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_setup_of.h"

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
  EXPECT_FALSE(latent.is_dsa());
  EXPECT_TRUE(
      setup_of("model: glm-5, layer: full, tp: 8, batch: [{mode: decode, kv_len: 64}]").is_dsa())
      << "its server is that of its sparse layers";
  const EngineSetup sliding =
      setup_of("model: gpt-oss-20b, layer: sliding, batch: [{mode: decode, kv_len: 64}]");
  EXPECT_TRUE(sliding.has_sinks && sliding.has_window);
  const std::string llama_4 = "model: llama-4-scout, batch: [{mode: decode, kv_len: 64}], layer: ";
  EXPECT_TRUE(setup_of(llama_4 + "chunked").has_chunks);
  EXPECT_TRUE(setup_of(llama_4 + "full").has_chunks) << "the server is one for all layers";
  const std::string whisper = "model: whisper-large-v3, batch: 4q1s64, layer: ";
  EXPECT_TRUE(setup_of(whisper + "full").is_encoder_decoder);
  EXPECT_TRUE(setup_of(whisper + "cross").is_encoder_decoder);
  EXPECT_FALSE(plain.is_encoder_decoder);
  EXPECT_TRUE(setup_of(whisper + "cross").is_whisper);
  const std::string vision = "model: llama-3.2-11b-vision, batch: 4q1s64, layer: ";
  EXPECT_TRUE(setup_of(vision + "full").is_encoder_decoder);
  EXPECT_FALSE(setup_of(vision + "full").is_whisper);
  EXPECT_FALSE(plain.is_whisper);
}

TEST(EngineSetupOf, a_case_asks_for_what_its_layer_cache_and_step_have) {
  const std::string plain = "model: llama-3.1-8b, ";
  const std::string decode = ", batch: [{mode: decode, kv_len: 64}]";
  EXPECT_TRUE(setup_of(plain + "attention: {alibi: true}" + decode).has_alibi);
  EXPECT_TRUE(setup_of(plain + "attention: {temperature_len: 32}" + decode).has_temperature);
  EXPECT_TRUE(setup_of(plain + "attention: {causal: false}, batch: q64").sees_ahead);
  const std::string tree = ", batch: [{mode: target_verify, prefix_len: 9, tree: {chain: 4}}]";
  EXPECT_TRUE(setup_of(plain + "attention: {window: {keys: 8, in_trees: depth}}" + tree)
                  .window_counts_depth);
  EXPECT_FALSE(setup_of(plain + "attention: {window: {keys: 8}}" + tree).window_counts_depth);
  EXPECT_TRUE(setup_of(plain + "attention: {dual_chunk: {chunk_size: 32, local_size: 8}}" + decode)
                  .is_dual_chunk);
  EXPECT_TRUE(setup_of(plain + "batch: [{mode: extend, q_len: 40, prefix_len: 0, items: [3, 2]}]")
                  .scores_items);
  EXPECT_EQ(
      setup_of(plain + "batch: [{mode: dllm_extend, block: 8, q_len: 16, prefix_len: 8}]").mode,
      ForwardMode::kDllmExtend);
  EXPECT_TRUE(setup_of(plain + "kv_cache: {layout: x_packed, page_size: 16}" + decode).is_x_packed);
  EXPECT_EQ(setup_of(plain + "kv_cache: {dtype: e4m3, scales: token}" + decode).kv_scales,
            KvScales::kToken);
  EXPECT_EQ(setup_of(plain + "kv_cache: {dtype: e4m3}, attention: {q_dtype: e4m3}" + decode).q_fp8,
            DType::kE4M3);
  EXPECT_TRUE(
      setup_of(plain + "attention: {out_dtype: e4m3, out_scale: 0.02}" + decode).has_fp8_output);
  const Scenario scenario = parse_scenario("mixes:\n  m: {" + plain + "batch: q64}\n", "s.yaml");
  EXPECT_TRUE(
      engine_setup_of(scenario.cases.front(), *find_engine_device("sm90"), true).is_deterministic);
}

TEST(EngineSetupOf, keys_without_a_cache_have_no_pages) {
  const EngineSetup setup = setup_of("model: llama-3.1-8b, kv_cache: {layout: ragged}, batch: q64");
  EXPECT_TRUE(setup.is_ragged);
  EXPECT_EQ(setup.page_size, 0);
}

TEST(EngineSetupOf, latent_attention_has_latent_rows_in_its_expanded_form_too) {
  const std::string inline_model =
      "model: {heads_q: 8, kv_lora_rank: 512, qk_nope_head_dim: 128, qk_rope_head_dim: 64, "
      "head_dim_v: 128}, ";
  for (const std::string& model : {std::string("model: deepseek-v3, tp: 16, "), inline_model}) {
    const EngineSetup setup = setup_of(model + "mla: expanded, batch: q64");
    EXPECT_TRUE(setup.is_mla && setup.is_ragged);
    EXPECT_FALSE(setup.has_unequal_dims());
    EXPECT_EQ(setup.head_dim_qk, 576);
    EXPECT_EQ(setup.head_dim_v, 512);
    EXPECT_EQ(setup.heads_q, 8);
  }
}

TEST(EngineSetupOf, a_layer_of_a_hybrid_model_is_of_attention_or_linear) {
  const std::string model =
      "model: qwen3-next-80b-a3b, batch: [{mode: decode, kv_len: 64}], layer: ";
  EXPECT_EQ(setup_of(model + "full").linear, LinearAttentionKind::kGatedDeltaNet);
  EXPECT_FALSE(setup_of(model + "full").of_linear_layer);
  EXPECT_TRUE(setup_of(model + "linear").of_linear_layer);
  EXPECT_FALSE(setup_of("model: llama-3.1-8b, batch: q64").linear.has_value());
}

TEST(EngineSetupOf, a_case_has_the_topk_of_its_scenario_whatever_tree_is_drawn) {
  EXPECT_EQ(setup_of("model: llama-3.1-8b, batch: [{mode: target_verify, prefix_len: 64, tree: "
                     "{topk: 4, depth: 3, tokens: 8}}]")
                .topk,
            4);
  EXPECT_EQ(setup_of("model: llama-3.1-8b, batch: [{mode: target_verify, prefix_len: 64, tree: "
                     "{parents: [-1, 0, 0, 0]}}]")
                .topk,
            3);
  EXPECT_EQ(setup_of("model: llama-3.1-8b, batch: [{mode: target_verify, prefix_len: 64, tree: "
                     "{topk: 4, depth: 1, tokens: 5}}]")
                .topk,
            4);
  EXPECT_EQ(setup_of("model: llama-3.1-8b, batch: [{mode: target_verify, prefix_len: 64, tree: "
                     "{topk: 1, depth: 3, tokens: 4}}]")
                .topk,
            1);
  EXPECT_EQ(
      setup_of("model: llama-3.1-8b, batch: [{mode: draft_extend, q_len: 4, prefix_len: 64}]").topk,
      1)
      << "it comes of drafts";
}

TEST(EngineSetupOf, a_model_has_the_sorts_of_all_its_layers) {
  const EngineDevice device = *find_engine_device("sm90");
  const EngineSetup gemma = engine_setup_of(*find_model("gemma-3-12b"), 2, device);
  EXPECT_TRUE(gemma.has_window);  // though its full layers have none
  EXPECT_EQ(gemma.heads_q, 8);
  EXPECT_FALSE(engine_setup_of(*find_model("llama-3.1-8b"), 1, device).has_window);
  EXPECT_TRUE(engine_setup_of(*find_model("llama-4-scout"), 1, device).has_chunks);
  EXPECT_TRUE(engine_setup_of(*find_model("deepseek-v3.2"), 8, device).is_dsa());
  EXPECT_FALSE(engine_setup_of(*find_model("deepseek-v3"), 8, device).is_dsa());
  using enum SparseAttention;
  for (const auto& [name, sparse] : {std::pair{"deepseek-v3", kNone},
                                     {"glm-5.2", kDsa},
                                     {"glm-5.3-flash", kPooledDsa},
                                     {"qwen3.8-flash-next", kQsa},
                                     {"minimax-m3", kMsa},
                                     {"deepseek-v4-flash", kCompressed}}) {
    EXPECT_EQ(engine_setup_of(*find_model(name), 1, device).sparse, sparse) << name;
  }
  EXPECT_TRUE(engine_setup_of(*find_model("deepseek-v4-flash"), 1, device).has_window);
  EXPECT_TRUE(engine_setup_of(*find_model("deepseek-v3"), 8, device).is_mla);
  EXPECT_FALSE(gemma.is_mla);
  EXPECT_TRUE(engine_setup_of(*find_model("gpt-oss-20b"), 1, device).has_sinks);
  EXPECT_EQ(engine_setup_of(*find_model("minimax-text-01"), 1, device).linear,
            LinearAttentionKind::kLightning);
  EXPECT_EQ(engine_setup_of(*find_model("kimi-linear-48b"), 1, device).linear,
            LinearAttentionKind::kKimiDelta);
  EXPECT_THROW(static_cast<void>(engine_setup_of(*find_model("llama-3.1-8b"), 7, device)),
               ConfigError);
}

std::string prefill_path(const std::string& mix, bool deterministic = false,
                         const std::string& model = "llama-3.1-8b") {
  const Scenario scenario =
      parse_scenario("mixes:\n  m: {model: " + model + ", " + mix + "}\n", "s.yaml");
  const auto decision = prefill_of_sglang(scenario.cases.front(), deterministic);
  return decision ? std::string(to_string(decision->path)) : "";
}

TEST(PrefillOfSglang, follows_from_prefixes_items_and_determinism) {
  EXPECT_EQ(prefill_path("batch: 2q64"), "ragged");
  EXPECT_EQ(prefill_path("batch: 2q64_q64s128"), "ragged_paged");
  EXPECT_EQ(prefill_path("batch: 2q64_q1s128"), "ragged_paged") << "a decode of a mixed step";
  EXPECT_EQ(prefill_path("batch: q64s65_2q64"), "ragged_paged") << "one cached token of the first";
  EXPECT_EQ(prefill_path("batch: 2q64", /*deterministic=*/true), "paged");
  EXPECT_EQ(prefill_path("batch: [{mode: extend, q_len: 40, prefix_len: 0, items: [3, 2]}]"),
            "paged");
  EXPECT_EQ(prefill_path("batch: 4q1s128"), "") << "decodes have no such choice";
}

TEST(PrefillOfSglang, is_of_models_that_may_take_flashinfer) {
  EXPECT_EQ(prefill_path("layer: full, batch: q64", false, "llama-4-scout"), "");
  EXPECT_EQ(prefill_path("layer: chunked, batch: q64", false, "llama-4-scout"), "");
  EXPECT_EQ(prefill_path("batch: q64", false, "gpt-oss-20b"), "") << "no sinks";
  EXPECT_EQ(prefill_path("batch: q64", false, "gemma-3-1b"), "ragged");
  EXPECT_EQ(prefill_path("batch: q64", false, "deepseek-v3"), "ragged");
  for (const char* model :
       {"whisper-large-v3", "llama-3.2-11b-vision", "qwen3-vl-235b", "gemma-3-4b"}) {
    EXPECT_EQ(prefill_path("layer: full, batch: 2q64_q64s128", false, model), "paged")
        << "SGLang counts " << model << " among its multimodal ones";
  }
  for (const char* model : {"whisper-large-v3", "llama-3.2-11b-vision"}) {
    EXPECT_EQ(prefill_path("layer: cross, batch: 2q64", false, model), "");
  }
}

}  // namespace
}  // namespace attnbench
