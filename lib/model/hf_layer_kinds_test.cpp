// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_layer_kinds.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "lib/model/testing/read_hf.h"

namespace attnbench {
namespace {

// The type's own figures are those of the published model, so that config proves nothing about
// them.
TEST(HfLayerKinds, has_linear_layers_with_the_heads_and_dims_that_it_states) {
  const ModelGeometry model = read_hf(R"({
    "model_type": "qwen3_next", "num_hidden_layers": 8, "full_attention_interval": 4,
    "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "hidden_size": 2048,
    "linear_conv_kernel_dim": 3, "linear_num_key_heads": 8, "linear_num_value_heads": 24,
    "linear_key_head_dim": 96, "linear_value_head_dim": 64})");
  EXPECT_EQ(model.kinds.text(), kind_counts(2, LayerKind::kLinear, 6).text());
  const AttentionLayer linear = layer_of(model, LayerKind::kLinear, 1);
  EXPECT_EQ(linear.family, Family::kGatedDeltaNet);
  EXPECT_EQ(linear.heads_q, 8);
  EXPECT_EQ(linear.heads_kv, 24);
  EXPECT_EQ(linear.head_dim_qk, 96);
  EXPECT_EQ(linear.head_dim_v, 64);
  EXPECT_EQ(model.linear_conv_kernel_dim, 3);
}

TEST(HfLayerKinds, of_qwen_3_5_has_linear_layers_with_the_heads_and_dims_of_transformers) {
  for (const char* type : {"qwen3_5_text", "qwen3_5_moe_text"}) {
    const ModelGeometry model = read_hf(R"({"model_type": ")" + std::string(type) + "\"}");
    ASSERT_TRUE(model.has_delta_net()) << type;
    const AttentionLayer linear = layer_of(model, LayerKind::kLinear, 1);
    EXPECT_EQ(linear.heads_q, 16) << type;
    EXPECT_EQ(linear.heads_kv, 32) << type;
    EXPECT_EQ(linear.head_dim_qk, 128) << type;
    EXPECT_EQ(linear.head_dim_v, 128) << type;
  }
}

TEST(HfLayerKinds, refuses_value_heads_that_are_no_multiple_of_the_key_heads) {
  EXPECT_EQ(hf_refusal(R"({"model_type": "qwen3_next", "linear_num_key_heads": 12})"),
            "c.json: linear_num_value_heads is 32, no multiple of 12 key heads");
}

TEST(HfLayerKinds, of_kimi_linear_states_the_heads_of_its_linear_layers) {
  const ModelGeometry model = read_hf(R"({"model_type": "kimi_linear", "num_hidden_layers": 8,
    "linear_attn_config": {"full_attn_layers": [4, 8], "kda_layers": [1, 2, 3, 5, 6, 7],
    "num_heads": 12, "head_dim": 64, "short_conv_kernel_size": 3}})");
  const AttentionLayer linear = layer_of(model, LayerKind::kLinear, 1);
  EXPECT_EQ(linear.family, Family::kKimiDelta);
  EXPECT_EQ(linear.heads_q, 12);
  EXPECT_EQ(linear.heads_kv, 12);
  EXPECT_EQ(linear.head_dim_qk, 64);
  EXPECT_EQ(model.linear_conv_kernel_dim, 3);
}

TEST(HfLayerKinds, of_minimax_has_linear_layers_with_a_head_for_each_query_head) {
  const ModelGeometry model = read_hf(R"({"model_type": "minimax", "num_attention_heads": 16,
    "num_key_value_heads": 4, "head_dim": 96})");
  const AttentionLayer linear = layer_of(model, LayerKind::kLinear, 2);
  EXPECT_EQ(linear.family, Family::kLightning);
  EXPECT_EQ(linear.heads_kv, 8);
  EXPECT_EQ(linear.head_dim_qk, 96);
  EXPECT_EQ(model.linear_conv_kernel_dim, 1);
}

TEST(HfLayerKinds, of_jamba_has_a_full_layer_in_each_period) {
  const std::string jamba = R"({"model_type": "jamba", "attn_layer_period": 8)";
  EXPECT_EQ(read_hf(jamba + "}").kinds, kind_counts(4, LayerKind::kLinear, 28));
  EXPECT_EQ(read_hf(jamba + R"(, "num_hidden_layers": 5})").kinds,
            kind_counts(1, LayerKind::kLinear, 4));
  EXPECT_EQ(read_hf(jamba + R"(, "num_hidden_layers": 4})").kinds,
            kind_counts(0, LayerKind::kLinear, 4));
  EXPECT_EQ(read_hf(jamba + R"(, "num_hidden_layers": 9, "attn_layer_offset": 0})").kinds,
            kind_counts(2, LayerKind::kLinear, 7));
  EXPECT_EQ(read_hf(jamba + R"(, "num_hidden_layers": 12})").kinds,
            kind_counts(1, LayerKind::kLinear, 11))
      << "layer 4 alone: the next would be 12";
  EXPECT_EQ(read_hf(jamba + "}").notes, "the linear layers are Mamba");
  EXPECT_EQ(hf_refusal(jamba + R"(, "attn_layer_offset": 8})"),
            "c.json: attn_layer_offset is 8, not below attn_layer_period 8");
}

TEST(HfLayerKinds, of_nemotron_h_has_the_blocks_of_its_pattern) {
  const std::string nemotron = R"({"model_type": "nemotron_h", "attention_head_dim": 64)";
  const ModelGeometry model =
      read_hf(nemotron + R"(, "num_hidden_layers": 7, "hybrid_override_pattern": "M-M*-EM"})");
  EXPECT_EQ(model.kinds, kind_counts(1, LayerKind::kLinear, 3));
  EXPECT_EQ(model.layers, 4);
  EXPECT_EQ(model.head_dim, 64);
  EXPECT_EQ(model.notes, "3 of its 7 blocks have no attention and do not count as layers");
  // The heads and dims of transformers' class, of which a rank of eight has one group.
  const AttentionLayer linear = layer_of(model, LayerKind::kLinear, 8);
  EXPECT_EQ(linear.family, Family::kMamba2);
  EXPECT_EQ(std::pair(linear.heads_q, linear.heads_kv), std::pair(1, 16));
  EXPECT_EQ(std::pair(linear.head_dim_qk, linear.head_dim_v), std::pair(128, 64));
  const AttentionLayer stated =
      layer_of(read_hf(nemotron +
                       R"(, "hybrid_override_pattern": "M*", "num_hidden_layers": 2, "n_groups": 1,
        "mamba_num_heads": 64, "mamba_head_dim": 32, "ssm_state_size": 96, "conv_kernel": 3})"),
               LayerKind::kLinear, 4);
  EXPECT_EQ(std::pair(stated.heads_q, stated.heads_kv), std::pair(1, 16))
      << "one group is replicated";
  EXPECT_EQ(std::pair(stated.head_dim_qk, stated.head_dim_v), std::pair(96, 32));
  EXPECT_EQ(read_hf(nemotron + R"(, "layers_block_type": ["mamba", "moe", "attention"]})").kinds,
            kind_counts(1, LayerKind::kLinear, 1));
  EXPECT_EQ(hf_refusal(nemotron + R"(, "num_hidden_layers": 8, "hybrid_override_pattern": "M*"})"),
            "c.json: hybrid_override_pattern has 2 entries for 8 layers");
  EXPECT_EQ(hf_refusal(nemotron + R"(, "hybrid_override_pattern": "M+"})"),
            "c.json: hybrid_override_pattern has \"+\"; known are \"*\", \"M\", \"E\" and \"-\"");
  EXPECT_EQ(hf_refusal(nemotron + R"(, "hybrid_override_pattern": "EE"})"),
            "c.json: hybrid_override_pattern has no block with attention");
}

TEST(HfLayerKinds, of_kimi_linear_without_its_lists_has_a_full_layer_at_4_8_and_so_on) {
  const std::string kimi = R"({"model_type": "kimi_linear", "num_hidden_layers": )";
  EXPECT_EQ(read_hf(kimi + "8}").kinds, kind_counts(1, LayerKind::kLinear, 7))
      << "the next would be 8";
  EXPECT_EQ(read_hf(kimi + "9}").kinds, kind_counts(2, LayerKind::kLinear, 7));
}

}  // namespace
}  // namespace attnbench
