// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/model_geometry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "lib/base/error.h"

namespace attnbench {
namespace {

ModelGeometry preset(std::string_view name) {
  const ModelGeometry* model = find_model(name);
  if (model == nullptr) throw std::runtime_error("no preset " + std::string(name));
  return *model;
}

/// The layer that runs when a scenario says nothing of kinds.
AttentionLayer layer_of(const ModelGeometry& model, int tp) {
  return layer_of(model, kind_to_run(model, std::nullopt), tp);
}

std::string refusal(const ModelGeometry& model, int tp) {
  try {
    (void)layer_of(model, tp);
  } catch (const ConfigError& error) {
    return error.diagnostics().front().message;
  }
  return "accepted";
}

struct Row {
  const char* name;
  int layers, heads_q, heads_kv, head_dim;
};

// Figures of the models' published configs.
TEST(ModelPresets, carry_the_published_heads_and_dims) {
  for (const Row& row :
       {Row{"llama-3.1-8b", 32, 32, 8, 128},   {"llama-3.1-70b", 80, 64, 8, 128},
        {"qwen3-8b", 36, 32, 8, 128},          {"qwen3-235b-a22b", 94, 64, 4, 128},
        {"qwen3-vl-235b", 94, 64, 4, 128},     {"qwen3-next-80b-a3b", 48, 16, 2, 256},
        {"qwen3.5-397b-a17b", 60, 32, 2, 256}, {"qwen3.5-35b-a3b", 40, 16, 2, 256},
        {"qwen3.5-27b", 64, 24, 4, 256},       {"gemma-2-9b", 42, 16, 8, 256},
        {"gemma-2-27b", 46, 32, 16, 128},      {"gemma-3-1b", 26, 4, 1, 256},
        {"gemma-3-4b", 34, 8, 4, 256},         {"mistral-7b-v0.1", 32, 32, 8, 128},
        {"phi-3-mini-4k", 32, 32, 32, 96},     {"gpt-oss-120b", 36, 64, 8, 64},
        {"llama-4-scout", 48, 40, 8, 128},     {"llama-4-maverick", 48, 40, 8, 128},
        {"glm-4.7", 92, 96, 8, 128},           {"minimax-text-01", 80, 64, 8, 128}}) {
    const ModelGeometry model = preset(row.name);
    EXPECT_EQ(model.layers, row.layers) << row.name;
    EXPECT_EQ(model.heads_q, row.heads_q) << row.name;
    EXPECT_EQ(model.heads_kv, row.heads_kv) << row.name;
    EXPECT_EQ(model.head_dim, row.head_dim) << row.name;
    EXPECT_TRUE(model.verified) << row.name;
  }
}

TEST(ModelPresets, say_that_figures_are_restated_where_no_config_was_read) {
  for (const char* name :
       {"qwen3-32b", "qwen3-30b-a3b", "llama-3.1-405b", "gemma-3-12b", "gemma-3-27b"}) {
    EXPECT_FALSE(preset(name).verified) << name;
    EXPECT_NE(preset(name).notes.find("restated by litgpt"), std::string::npos) << name;
  }
}

TEST(ModelPresets, are_at_least_twenty_verified_ones) {
  int verified = 0;
  for (const std::string& name : model_names()) verified += preset(name).verified ? 1 : 0;
  EXPECT_GE(verified, 20);
}

TEST(ModelPresets, all_give_a_layer) {
  for (const std::string& name : model_names()) {
    const ModelGeometry model = preset(name);
    const bool slides = model.kinds[LayerKind::kSliding] == model.layers;
    const AttentionLayer layer =
        layer_of(model, slides ? LayerKind::kSliding : LayerKind::kFull, 1);
    EXPECT_EQ(layer.heads_q % layer.heads_kv, 0) << name;
    EXPECT_GT(layer.scale, 0) << name;
  }
}

TEST(ModelPresets, an_unknown_name_is_null) { EXPECT_EQ(find_model("llama-9"), nullptr); }

TEST(ModelPresets, a_misspelt_key_is_an_error) {
  EXPECT_THROW((void)parse_model("heads_q: 8\nheads_kv: 8\nheaddim: 64\n", "x"), ConfigError);
  EXPECT_THROW((void)parse_model("heads_q: 8\nheads_kv: 8\n", "x"), ConfigError);
  EXPECT_THROW((void)parse_model("heads_q: many\nheads_kv: 8\nhead_dim: 64\n", "x"), ConfigError);
  const std::string whole = "heads_q: 8\nheads_kv: 8\nhead_dim: 64\nlayers: 4\n";
  EXPECT_NO_THROW((void)parse_model(whole, "x"));
  EXPECT_THROW((void)parse_model(whole + "layer_kinds: {full: 3}\n", "x"), ConfigError);
  EXPECT_THROW((void)parse_model(whole + "layer_kinds: {sliding: 4}\n", "x"), ConfigError);
  EXPECT_THROW((void)parse_model(whole + "layer_kinds: {windowed: 4}\n", "x"), ConfigError);
  EXPECT_THROW((void)parse_model(whole + "rope_scaling: {type: linear}\n", "x"), ConfigError);
  EXPECT_THROW((void)parse_model(whole + "encoder_len: 1500\n", "x"), ConfigError);
}

TEST(ModelPresets, say_what_linear_layers_compute) {
  const std::string whole = "heads_q: 8\nheads_kv: 8\nhead_dim: 64\nlayers: 4\n";
  const std::string hybrid = whole + "layer_kinds: {full: 1, linear: 3}\n";
  EXPECT_EQ(parse_model(hybrid + "linear_attention: lightning\n", "x").linear_kind,
            LinearAttentionKind::kLightning);
  EXPECT_THROW((void)parse_model(hybrid, "x"), ConfigError);
  EXPECT_THROW((void)parse_model(hybrid + "linear_attention: mamba\n", "x"), ConfigError);
  EXPECT_THROW((void)parse_model(whole + "linear_attention: lightning\n", "x"), ConfigError);
  EXPECT_EQ(preset("qwen3.5-27b").linear_kind, LinearAttentionKind::kGatedDeltaNet);
}

TEST(ModelPresets, say_what_sliding_layers_have_of_their_own) {
  const std::string whole = "heads_q: 8\nheads_kv: 8\nhead_dim: 64\nlayers: 4\n";
  const std::string own = "sliding: {heads_kv: 2, head_dim: 32, sinks: true}\n";
  const ModelGeometry model =
      parse_model(whole + "layer_kinds: {full: 1, sliding: 3}\nsliding_window: 9\n" + own, "x");
  const AttentionLayer full = layer_of(model, LayerKind::kFull, 1);
  const AttentionLayer sliding = layer_of(model, LayerKind::kSliding, 1);
  EXPECT_EQ((std::array{full.heads_kv, full.head_dim_qk, full.head_dim_v}),
            (std::array{8, 64, 64}));
  EXPECT_EQ((std::array{sliding.heads_kv, sliding.head_dim_qk, sliding.head_dim_v}),
            (std::array{2, 32, 32}));
  EXPECT_FALSE(full.has_sinks);
  EXPECT_TRUE(sliding.has_sinks);
  EXPECT_THROW((void)parse_model(whole + own, "x"), ConfigError) << "it has no such layers";
}

TEST(LayerOf, scales_by_the_root_of_the_head_dim_or_of_gemma_s_scalar) {
  EXPECT_DOUBLE_EQ(layer_of(preset("llama-3.1-8b"), 1).scale, 1 / std::sqrt(128.0));
  EXPECT_DOUBLE_EQ(layer_of(preset("gemma-2-9b"), 1).scale, 1.0 / 16);
  EXPECT_DOUBLE_EQ(layer_of(preset("gemma-2-27b"), 1).scale, 1.0 / 12);
}

TEST(LayerOf, gives_mla_its_absorbed_form_with_the_scale_of_192_dims_and_yarn) {
  const AttentionLayer layer = layer_of(preset("deepseek-v3"), 8);
  EXPECT_EQ(layer.family, Family::kLatent);
  EXPECT_EQ(layer.heads_q, 16);
  EXPECT_EQ(layer.heads_kv, 1);
  EXPECT_EQ(layer.head_dim_qk, 576);
  EXPECT_EQ(layer.head_dim_v, 512);
  EXPECT_NEAR(layer.scale, 0.1352337789, 1e-10);
  EXPECT_NEAR(layer_of(preset("deepseek-v2-lite"), 1).scale, 0.1147213868, 1e-10);
  EXPECT_NEAR(layer_of(preset("kimi-k2"), 1).scale, 0.1308608000, 1e-10);
  // No YaRN: Kimi Linear has no RoPE at all.
  EXPECT_NEAR(layer_of(preset("kimi-linear-48b"), 1).scale, 0.0721687836, 1e-10);
  EXPECT_DOUBLE_EQ(layer_of(preset("glm-5"), LayerKind::kFull, 1).scale, 1.0 / 16);
}

TEST(LayerOf, gives_mla_its_expanded_form_with_heads_of_its_own_and_the_same_scale) {
  const ModelGeometry& deepseek = preset("deepseek-v3");
  const AttentionLayer layer = layer_of(deepseek, LayerKind::kFull, 8, MlaForm::kExpanded);
  EXPECT_EQ(layer.family, Family::kSoftmax);
  EXPECT_EQ(layer.heads_q, 16);
  EXPECT_EQ(layer.heads_kv, 16);
  EXPECT_EQ(layer.head_dim_qk, 192);
  EXPECT_EQ(layer.head_dim_v, 128);
  EXPECT_EQ(layer.scale, layer_of(deepseek, LayerKind::kFull, 8).scale);
  const AttentionLayer glm = layer_of(preset("glm-5"), LayerKind::kFull, 1, MlaForm::kExpanded);
  EXPECT_EQ(glm.head_dim_qk, 256);
  EXPECT_EQ(glm.head_dim_v, 256);
  ModelGeometry unknown = deepseek;
  unknown.head_dim_v = 0;
  EXPECT_THROW(static_cast<void>(layer_of(unknown, LayerKind::kFull, 8, MlaForm::kExpanded)),
               ConfigError);
  EXPECT_EQ(layer_of(unknown, LayerKind::kFull, 8).head_dim_v, 512);
}

TEST(ModelPresets, of_latent_attention_all_have_an_expanded_form) {
  for (const std::string& name : model_names()) {
    const ModelGeometry& model = *find_model(name);
    const bool projects = model.qk_rope_head_dim > 0;  // else all of a row is K and V
    EXPECT_EQ(model.is_mla() && projects && model.head_dim_v == 0, false) << name;
  }
}

TEST(YarnScaling, multiplies_by_mscale_squared_beyond_the_trained_length) {
  EXPECT_NEAR((YarnScaling{.factor = 40, .mscale_all_dim = 1}.softmax_factor()), 1.8738542071,
              1e-9);
  EXPECT_EQ((YarnScaling{.factor = 1, .mscale_all_dim = 1}.softmax_factor()), 1);
  EXPECT_EQ((YarnScaling{.factor = 40, .mscale_all_dim = 0}.softmax_factor()), 1);
}

TEST(LayerOf, divides_heads_among_ranks_and_replicates_kv_heads_below_one) {
  const AttentionLayer two = layer_of(preset("qwen3-235b-a22b"), 2);
  EXPECT_EQ(two.heads_q, 32);
  EXPECT_EQ(two.heads_kv, 2);
  const AttentionLayer eight = layer_of(preset("qwen3-235b-a22b"), 8);
  EXPECT_EQ(eight.heads_q, 8);
  EXPECT_EQ(eight.heads_kv, 1);
}

TEST(LayerOf, refuses_heads_that_do_not_divide) {
  EXPECT_EQ(refusal(preset("llama-3.1-8b"), 3), "32 query heads do not divide among tp 3 ranks");
  ModelGeometry odd = preset("llama-3.1-8b");
  odd.heads_kv = 5;
  EXPECT_EQ(refusal(odd, 1), "32 query heads are not a multiple of 5 KV heads");
  odd.heads_q = 36;
  odd.heads_kv = 6;
  EXPECT_EQ(refusal(odd, 4), "6 KV heads neither divide among tp 4 ranks nor replicate evenly");
}

TEST(LayerOf, slides_by_default_only_where_every_layer_does) {
  EXPECT_EQ(layer_of(preset("mistral-7b-v0.1"), 1).sliding_window_size, 4095);
  EXPECT_EQ(layer_of(preset("phi-3-mini-4k"), 1).sliding_window_size, 2046);
  EXPECT_EQ(layer_of(preset("gemma-3-4b"), 1).sliding_window_size, -1);
  EXPECT_TRUE(layer_of(preset("gpt-oss-120b"), 1).has_sinks);
  EXPECT_EQ(layer_of(preset("gemma-2-9b"), 1).logit_cap, 50);
}

TEST(LayerOf, reads_the_encoders_keys_in_a_cross_layer_and_its_own_in_the_others) {
  const ModelGeometry whisper = preset("whisper-large-v3");
  const AttentionLayer cross = layer_of(whisper, LayerKind::kCross, 2);
  EXPECT_TRUE(cross.is_cross_attention);
  EXPECT_FALSE(cross.causal);
  EXPECT_EQ(cross.heads_q, 10);
  EXPECT_EQ(cross.heads_kv, 10);
  EXPECT_EQ(cross.head_dim_qk, 64);
  const AttentionLayer full = layer_of(whisper, LayerKind::kFull, 2);
  EXPECT_FALSE(full.is_cross_attention);
  EXPECT_TRUE(full.causal);
  EXPECT_EQ(kind_to_run(whisper, std::nullopt), LayerKind::kFull);
  EXPECT_EQ(kind_to_run(whisper, LayerKind::kCross), LayerKind::kCross);
  EXPECT_THROW(static_cast<void>(kind_to_run(preset("llama-3.1-8b"), LayerKind::kCross)),
               ConfigError);
}

TEST(ModelGeometry, linear_layers_of_qwen3_next_are_gated_delta_nets_shared_by_the_ranks) {
  const ModelGeometry& model = preset("qwen3-next-80b-a3b");
  EXPECT_EQ(model.kinds[LayerKind::kFull], 12);
  EXPECT_EQ(model.kinds[LayerKind::kLinear], 36);
  const AttentionLayer layer = layer_of(model, kind_to_run(model, LayerKind::kLinear), 4);
  EXPECT_EQ(layer.family, Family::kGatedDeltaNet);
  EXPECT_EQ(layer.heads_q, 4);
  EXPECT_EQ(layer.heads_kv, 8);
  EXPECT_EQ(layer.heads_out(), 8);
  EXPECT_EQ(layer.group_size(), 2);
  EXPECT_EQ(layer.head_dim_qk, 128);
  EXPECT_EQ(layer.head_dim_v, 128);
  EXPECT_DOUBLE_EQ(layer.scale, 1 / std::sqrt(128.0));
  EXPECT_THROW((void)layer_of(model, LayerKind::kLinear, 32), ConfigError);
}

TEST(ModelGeometry, linear_layers_of_kimi_linear_have_a_decay_for_each_key_dim) {
  const ModelGeometry& model = preset("kimi-linear-48b");
  const AttentionLayer layer = layer_of(model, kind_to_run(model, LayerKind::kLinear), 4);
  EXPECT_EQ(layer.family, Family::kKimiDelta);
  EXPECT_EQ(layer.heads_q, 8);
  EXPECT_EQ(layer.heads_kv, 8);
  EXPECT_EQ(layer.gate_dims(), 128);
  EXPECT_DOUBLE_EQ(layer.scale, 1 / std::sqrt(128.0));
}

TEST(ModelGeometry, linear_layers_of_minimax_take_queries_as_they_are) {
  const ModelGeometry& model = preset("minimax-text-01");
  const AttentionLayer layer = layer_of(model, kind_to_run(model, LayerKind::kLinear), 8);
  EXPECT_EQ(layer.family, Family::kLightning);
  EXPECT_EQ(layer.heads_q, 8);
  EXPECT_EQ(layer.heads_kv, 8);
  EXPECT_EQ(layer.head_dim_qk, 128);
  EXPECT_EQ(layer.head_dim_v, 128);
  EXPECT_EQ(layer.scale, 1);
}

TEST(KindToRun, refuses_linear_layers_whose_heads_are_unknown) {
  const ModelGeometry model = parse_model(
      "layers: 4\nlayer_kinds: {full: 1, linear: 3}\nlinear_attention: lightning\nheads_q: 8\n"
      "heads_kv: 8\nhead_dim: 64\nstatus: not checked\n",
      "m");
  try {
    (void)kind_to_run(model, LayerKind::kLinear);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.diagnostics().front().message,
              "attnbench cannot run the linear layers of m: it runs gated delta nets, Kimi delta "
              "and lightning attention and Mamba-2 with known heads");
  }
}

struct Asked {
  const char* model;
  std::optional<LayerKind> kind;
  const char* message;
};

TEST(KindToRun, must_be_spelled_out_where_the_model_s_own_attention_is_missing) {
  for (const Asked& asked : {
           Asked{"llama-3.1-8b", LayerKind::kSliding,
                 "llama-3.1-8b has no sliding layers, but 32 full"},
           Asked{"mistral-7b-v0.1", LayerKind::kFull,
                 "mistral-7b-v0.1 has no full layers, but 32 sliding"},
       }) {
    try {
      (void)kind_to_run(preset(asked.model), asked.kind);
      ADD_FAILURE() << asked.model << " runs";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.diagnostics().front().message, asked.message);
      EXPECT_FALSE(error.diagnostics().front().hint.empty());
    }
  }
}

TEST(LayerOf, takes_blocks_for_each_kv_head_in_sparse_layers_of_minimax_m3) {
  const ModelGeometry& model = preset("minimax-m3");
  EXPECT_THAT(runnable_kinds(model), testing::ElementsAre(LayerKind::kFull, LayerKind::kSparse));
  const AttentionLayer sparse = layer_of(model, kind_to_run(model, std::nullopt), 2);
  EXPECT_EQ(sparse.selection, (Selection{.topk = 16,
                                         .unit = 128,
                                         .groups = SelectionGroups::kKvHeads,
                                         .score = SelectionScore::kMax,
                                         .index_heads = 2}));
  EXPECT_EQ(std::pair(sparse.heads_q, sparse.heads_kv), std::pair(32, 2));
  EXPECT_FALSE(layer_of(model, LayerKind::kFull, 2).selection.exists());
}

TEST(KindToRun, is_a_sparse_layer_where_the_keys_that_it_takes_are_known) {
  for (const auto& [name, heads] :
       {std::pair{"deepseek-v3.2", 64}, {"glm-5", 32}, {"glm-5.2", 32}}) {
    ModelGeometry model = preset(name);
    ASSERT_EQ(kind_to_run(model, std::nullopt), LayerKind::kSparse) << name;
    const Selection selection = layer_of(model, LayerKind::kSparse, 8).selection;
    EXPECT_EQ(selection, (Selection{.topk = 2048, .index_heads = heads})) << name;
    EXPECT_FALSE(layer_of(model, LayerKind::kFull, 8).selection.exists()) << name;
    EXPECT_THAT(runnable_kinds(model), testing::ElementsAre(LayerKind::kSparse)) << name;
    model.index_topk = 0;
    EXPECT_EQ(kind_to_run(model, LayerKind::kFull), LayerKind::kFull) << name;
    EXPECT_THROW((void)kind_to_run(model, std::nullopt), ConfigError) << name;
    EXPECT_THROW((void)kind_to_run(model, LayerKind::kSparse), ConfigError) << name;
  }
}

TEST(KindToRun, is_the_full_layer_or_the_one_that_was_asked_for) {
  EXPECT_EQ(kind_to_run(preset("gemma-3-4b"), std::nullopt), LayerKind::kFull);
  EXPECT_EQ(kind_to_run(preset("mistral-7b-v0.1"), std::nullopt), LayerKind::kSliding);
  EXPECT_EQ(kind_to_run(preset("deepseek-v3.2"), LayerKind::kFull), LayerKind::kFull);
  EXPECT_EQ(kind_to_run(preset("llama-4-scout"), std::nullopt), LayerKind::kFull);
  for (const char* name : {"llama-4-scout", "llama-4-maverick"}) {
    const ModelGeometry llama = preset(name);
    const LayerKind kind = kind_to_run(llama, LayerKind::kChunked);
    EXPECT_EQ(layer_of(llama, kind, 1).attention_chunk, 8192) << name;
    EXPECT_EQ(layer_of(llama, LayerKind::kFull, 1).attention_chunk, 0) << name;
  }
  const ModelGeometry gemma = preset("gemma-3-4b");
  EXPECT_EQ(layer_of(gemma, kind_to_run(gemma, LayerKind::kSliding), 1).sliding_window_size, 1023);
}

TEST(NotesOn, say_what_is_left_out) {
  EXPECT_EQ(notes_on(preset("glm-4.7"), LayerKind::kFull), "");
  EXPECT_EQ(notes_on(preset("gemma-3-4b"), LayerKind::kFull),
            "this layer is full, as 5 of 34 are; the others: 29 sliding");
  EXPECT_EQ(notes_on(preset("gemma-3-4b"), LayerKind::kSliding),
            "this layer is sliding over 1024 keys, as 29 of 34 are; the others: 5 full");
  EXPECT_THAT(notes_on(preset("llama-4-maverick"), LayerKind::kChunked),
              testing::StartsWith(
                  "this layer is chunked by 8192 keys, as 36 of 48 are; the others: 12 full"));
  EXPECT_EQ(notes_on(preset("deepseek-v3.2"), LayerKind::kFull),
            "dense attention in place of the model's own (61 sparse layers)");
  EXPECT_EQ(notes_on(preset("deepseek-v3.2"), LayerKind::kSparse), "");
}

std::vector<double> alibi_slopes(int heads, int tp = 1) {
  ModelGeometry model;
  model.heads_q = heads;
  model.heads_kv = heads;
  model.head_dim = 64;
  const AttentionLayer layer = layer_of(model, LayerKind::kFull, tp);
  std::vector<double> slopes;
  for (int head = 0; head < layer.heads_q; ++head) slopes.push_back(alibi_slope(layer, head));
  return slopes;
}

TEST(LogitTemperature, rises_behind_its_length) {
  AttentionLayer layer;
  EXPECT_EQ(logit_temperature(layer, 1 << 20), 1);
  layer.temperature_len = 1024;
  for (const std::int64_t place : {-3, 0, 1, 1023, 1024}) {
    EXPECT_EQ(logit_temperature(layer, place), 1) << place;
  }
  EXPECT_DOUBLE_EQ(logit_temperature(layer, 1025), std::log2(1025.0) / 10);
  EXPECT_DOUBLE_EQ(logit_temperature(layer, 1 << 20), 2);
}

TEST(ChunkBegin, is_the_multiple_of_the_chunk_at_or_before_a_place) {
  EXPECT_EQ(chunk_begin(0, 100), 0);
  EXPECT_EQ(chunk_begin(8, 7), 0);
  EXPECT_EQ(chunk_begin(8, 8), 8);
  EXPECT_EQ(chunk_begin(8, 15), 8);
  EXPECT_EQ(chunk_begin(8, -9), 0);
}

TEST(AlibiSlope, halves_from_head_to_head_for_eight_heads) {
  EXPECT_THAT(alibi_slopes(8),
              testing::ElementsAre(.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625));
}

TEST(AlibiSlope, of_heads_beyond_a_power_of_two_is_every_other_one_of_twice_as_many) {
  EXPECT_THAT(alibi_slopes(6), testing::ElementsAre(.25, .0625, .015625, .00390625, .5, .125));
  EXPECT_THAT(alibi_slopes(3), testing::ElementsAre(.0625, .00390625, .25));
}

TEST(AlibiSlope, is_the_whole_model_s_on_every_rank) {
  EXPECT_THAT(alibi_slopes(8, 2), testing::ElementsAre(.5, .25, .125, .0625));
  EXPECT_THAT(alibi_slopes(12, 4), testing::ElementsAre(.5, .25, .125));
}

}  // namespace
}  // namespace attnbench
