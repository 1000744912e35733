// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_own_heads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "lib/model/testing/read_hf.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Query heads, KV heads, dims of a key and of a value of a kind of layers.
std::array<int, 4> heads(const std::string& json, LayerKind kind) {
  const AttentionLayer layer = layer_of(read_hf(json), kind, 1);
  return {layer.heads_q, layer.heads_kv, layer.head_dim_qk, layer.head_dim_v};
}

std::string gemma(const std::string& more) {
  return R"({"model_type": "gemma4_text")" + (more.empty() ? "" : ", " + more) + "}";
}

std::string mimo(const std::string& more) {
  return R"({"model_type": "mimo_v2_flash")" + (more.empty() ? "" : ", " + more) + "}";
}

TEST(HfOwnHeads, of_gemma_4_are_wider_in_full_layers) {
  const ModelGeometry model = read_hf(gemma(""));
  EXPECT_EQ(model.kinds, kind_counts(5, LayerKind::kSliding, 25));
  EXPECT_THAT(heads(gemma(""), LayerKind::kFull), ElementsAre(8, 4, 512, 512));
  EXPECT_THAT(heads(gemma(""), LayerKind::kSliding), ElementsAre(8, 4, 256, 256));
  for (const LayerKind kind : {LayerKind::kFull, LayerKind::kSliding}) {
    EXPECT_EQ(layer_of(model, kind, 1).scale, 1);
  }
  EXPECT_EQ(layer_of(model, LayerKind::kSliding, 1).sliding_window_size, 511);
  EXPECT_EQ(layer_of(model, LayerKind::kFull, 1).sliding_window_size, -1);
  EXPECT_THAT(heads(gemma(R"("global_head_dim": 256)"), LayerKind::kFull),
              ElementsAre(8, 4, 256, 256));
  EXPECT_EQ(read_hf(gemma(R"("global_head_dim": 256)")).sliding, OwnHeads{});
}

TEST(HfOwnHeads, of_gemma_4_have_other_kv_heads_in_full_layers_that_share_a_projection) {
  const std::string one = R"("num_global_key_value_heads": 1)";
  EXPECT_THAT(heads(gemma(one), LayerKind::kFull), ElementsAre(8, 4, 512, 512));
  const std::string shared = gemma(one + R"(, "attention_k_eq_v": true)");
  EXPECT_THAT(heads(shared, LayerKind::kFull), ElementsAre(8, 1, 512, 512));
  EXPECT_THAT(heads(shared, LayerKind::kSliding), ElementsAre(8, 4, 256, 256));
  EXPECT_THAT(hf_refusal(gemma(R"("num_global_key_value_heads": 3, "attention_k_eq_v": true)")),
              HasSubstr("8 query heads of the full layers are no multiple of their 3 KV heads"));
}

TEST(HfOwnHeads, of_gemma_4_end_with_a_full_layer) {
  EXPECT_EQ(read_hf(gemma(R"("num_hidden_layers": 35)")).kinds,
            kind_counts(6, LayerKind::kSliding, 29));
  EXPECT_THAT(hf_refusal(gemma(R"("num_hidden_layers": 2,
                  "layer_types": ["full_attention", "sliding_attention"])")),
              HasSubstr("layer_types ends with a sliding layer; the last one of a gemma4_text"));
  // Layers that read the keys of others are counted as Gemma 3n's are.
  EXPECT_EQ(read_hf(gemma(R"("num_hidden_layers": 35, "num_kv_shared_layers": 20)")).kv_shared,
            kind_counts(4, LayerKind::kSliding, 16));
}

TEST(HfOwnHeads, of_an_encoder_are_refused) {
  EXPECT_EQ(hf_refusal(gemma(R"("use_bidirectional_attention": "vision")")), "accepted");
  EXPECT_THAT(hf_refusal(gemma(R"("use_bidirectional_attention": "all")")),
              HasSubstr("use_bidirectional_attention is \"all\"; only \"vision\" is supported"));
}

TEST(HfOwnHeads, are_read_layer_by_layer_as_transformers_5_saves_them) {
  const std::string saved = R"("num_hidden_layers": 3, "layer_types":
      ["sliding_attention", "sliding_attention", "full_attention"], "per_layer_config": )";
  const std::string wide = gemma(saved + R"({"2": {"head_dim": 512, "num_key_value_heads": 2}})");
  EXPECT_THAT(heads(wide, LayerKind::kFull), ElementsAre(8, 2, 512, 512));
  EXPECT_THAT(heads(wide, LayerKind::kSliding), ElementsAre(8, 4, 256, 256));
  const std::string more = gemma(saved + R"({"0": {"num_attention_heads": 12},
                                             "1": {"num_attention_heads": 12}})");
  EXPECT_THAT(heads(more, LayerKind::kFull), ElementsAre(8, 4, 256, 256));
  EXPECT_THAT(heads(more, LayerKind::kSliding), ElementsAre(12, 4, 256, 256));
  EXPECT_THAT(hf_refusal(gemma(saved + R"({"0": {"head_dim": 128}})")),
              HasSubstr("per_layer_config.1 differs from another sliding_attention layer"));
  EXPECT_THAT(hf_refusal(gemma(saved + R"({"2": {"sliding_window": 9}})")),
              HasSubstr("per_layer_config.2.sliding_window is not supported"));
  EXPECT_THAT(hf_refusal(gemma(saved + R"({"3": {"head_dim": 512}})")),
              HasSubstr("per_layer_config.3 is none of the 3 layers"));
  EXPECT_THAT(hf_refusal(gemma(R"("per_layer_config": {"3": {"head_dim": 512}})")),
              HasSubstr("per_layer_config needs layer_types beside it"));
}

TEST(HfOwnHeads, of_mimo_v2_have_sinks_and_twice_the_kv_heads_in_sliding_layers) {
  const ModelGeometry model = read_hf(mimo(""));
  EXPECT_EQ(model.kinds, kind_counts(9, LayerKind::kSliding, 39));
  EXPECT_THAT(heads(mimo(""), LayerKind::kFull), ElementsAre(64, 4, 192, 128));
  EXPECT_THAT(heads(mimo(""), LayerKind::kSliding), ElementsAre(64, 8, 192, 128));
  EXPECT_FALSE(layer_of(model, LayerKind::kFull, 1).has_sinks);
  EXPECT_TRUE(layer_of(model, LayerKind::kSliding, 1).has_sinks);
  EXPECT_EQ(layer_of(model, LayerKind::kSliding, 1).sliding_window_size, 128);
}

TEST(HfOwnHeads, of_mimo_v2_come_under_names_of_their_own) {
  const std::string named = mimo(R"("num_hidden_layers": 3, "hybrid_layer_pattern": [0, 1, 1],
      "sliding_window": 128, "sliding_window_size": 128, "swa_num_attention_heads": 32,
      "swa_num_key_value_heads": 16, "swa_head_dim": 64, "swa_v_head_dim": 96,
      "swa_rope_theta": 10000, "add_swa_attention_sink_bias": false)");
  const ModelGeometry model = read_hf(named);
  EXPECT_EQ(model.kinds, kind_counts(1, LayerKind::kSliding, 2));
  EXPECT_THAT(heads(named, LayerKind::kFull), ElementsAre(64, 4, 192, 128));
  EXPECT_THAT(heads(named, LayerKind::kSliding), ElementsAre(32, 16, 64, 96));
  EXPECT_FALSE(layer_of(model, LayerKind::kSliding, 1).has_sinks);
  EXPECT_EQ(layer_of(model, LayerKind::kSliding, 1).sliding_window_size, 128);
  EXPECT_THAT(model.notes, HasSubstr("a sliding layer sees 128 keys before the query"));
  EXPECT_THAT(hf_refusal(mimo(R"("hybrid_layer_pattern": [0, 1])")),
              HasSubstr("hybrid_layer_pattern has 2 entries for 48 layers"));
}

}  // namespace
}  // namespace attnbench
