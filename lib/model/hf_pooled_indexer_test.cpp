// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_pooled_indexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "lib/model/testing/read_hf.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

ModelGeometry named_as(ModelGeometry model, const ModelGeometry& other) {
  model.name = other.name;
  model.notes = other.notes;
  model.multimodal = other.multimodal;
  return model;
}

TEST(HfPooledIndexer, of_glm_next_takes_pools_of_sixteen_beside_kimi_delta_layers) {
  const ModelGeometry& preset = *find_model("glm-5.3-flash");
  for (const char* json :
       {R"({"model_type": "glm5_next"})", R"({"model_type": "glm5_next", "text_config": {}})",
        R"({"model_type": "glm5_next_text", "qk_rope_head_dim": 0})"}) {
    EXPECT_TRUE(named_as(read_hf(json), preset) == preset) << json;
  }
  const AttentionLayer sparse = layer_of(preset, LayerKind::kSparse, 8);
  EXPECT_EQ(sparse.selection,
            (Selection{.topk = 129, .unit = 16, .tail = SelectionTail::kOpen, .index_heads = 32}));
  EXPECT_EQ(std::pair(sparse.head_dim_qk, sparse.head_dim_v), std::pair(512, 512));
  EXPECT_DOUBLE_EQ(sparse.scale, 1.0 / 16);
  EXPECT_EQ(layer_of(preset, LayerKind::kLinear, 8).family, Family::kKimiDelta);
  EXPECT_FALSE(layer_of(preset, LayerKind::kFull, 8).selection.exists());

  const ModelGeometry other = read_hf(R"({"model_type": "glm5_next", "num_hidden_layers": 3,
      "index_topk": 1024, "index_kpool": 8, "index_n_heads": 16,
      "layer_types": ["indexed_attention", "linear_attention", "full_attention"]})");
  EXPECT_EQ(other.kinds.text(), "2 sparse, 1 linear");
  EXPECT_EQ(layer_of(other, LayerKind::kSparse, 1).selection,
            (Selection{.topk = 129, .unit = 8, .tail = SelectionTail::kOpen, .index_heads = 16}));
  const ModelGeometry single = read_hf(R"({"model_type": "glm5_next", "index_kpool": 1})");
  EXPECT_EQ(layer_of(single, LayerKind::kSparse, 1).selection,
            (Selection{.topk = 2048, .index_heads = 32}));
}

TEST(HfPooledIndexer, of_qwen4_makes_layers_sparse_where_the_config_states_one) {
  const std::string base = R"({"model_type": "qwen4_exp", "text_config": {)";
  EXPECT_EQ(read_hf(base + "}}").kinds.text(), "10 full, 30 linear");
  const ModelGeometry flash = read_hf(base + R"("num_hidden_layers": 48,
      "num_attention_heads": 24, "indexer_n_heads": 4, "indexer_kv_heads": 1,
      "indexer_head_dim": 128, "indexer_budget": 2048, "indexer_compress_ratio": 4}})");
  const ModelGeometry& preset = *find_model("qwen3.8-flash-next");
  EXPECT_EQ(flash.kinds, preset.kinds);
  const AttentionLayer sparse = layer_of(flash, LayerKind::kSparse, 2);
  EXPECT_EQ(sparse.selection, layer_of(preset, LayerKind::kSparse, 2).selection);
  EXPECT_EQ(sparse.selection,
            (Selection{.topk = 513, .unit = 4, .tail = SelectionTail::kOpen, .index_heads = 4}));
  EXPECT_EQ(std::pair(sparse.heads_q, sparse.heads_kv), std::pair(12, 1));
  EXPECT_THAT(runnable_kinds(preset), testing::ElementsAre(LayerKind::kSparse))
      << "heads of its linear layers are not known";
  EXPECT_THAT(hf_refusal(base + R"("indexer_budget": 2048}})"),
              HasSubstr("text_config.indexer_budget, indexer_n_heads and indexer_compress_ratio "
                        "belong together"));
  EXPECT_THAT(hf_refusal(base + R"("indexer_kv_heads": 2}})"),
              HasSubstr("indexer_kv_heads is 2; only 1 is known"));
}

TEST(HfPooledIndexer, refuses_what_it_cannot_say) {
  const auto refusal = [](const std::string& more) {
    return hf_refusal(R"({"model_type": "glm5_next", )" + more + "}");
  };
  EXPECT_THAT(refusal(R"("index_kpool": 3)"),
              HasSubstr("index_topk is 2048, no multiple of index_kpool 3"));
  EXPECT_THAT(refusal(R"("index_kpool_always_select_tail": false)"),
              HasSubstr("index_kpool_always_select_tail is false"));
  EXPECT_THAT(refusal(R"("index_head_dim": 64)"),
              HasSubstr("index_head_dim is 64; only 128 is known"));
  EXPECT_THAT(refusal(R"("index_topk_freq": 2)"), HasSubstr("which of them is not known"));
  for (const char* key : {"index_kpool", "indexer_budget"}) {
    EXPECT_THAT(hf_refusal(R"({"model_type": "qwen3_next", ")" + std::string(key) + R"(": 4})"),
                HasSubstr("changes what layers attend to"))
        << key;
  }
}

// As transformers saves what it read (kimi_linear/configuration_kimi_linear.py).
TEST(HfPooledIndexer, stands_beside_kimi_delta_layers_under_either_name) {
  for (const char* type : {"kimi_linear", "glm5_next"}) {
    const std::string json = std::string(R"({"model_type": ")") + type + R"(", )";
    const ModelGeometry saved = read_hf(json + R"("linear_num_heads": 48, "linear_head_dim": 64,
        "linear_conv_kernel_dim": 3})");
    const ModelGeometry own = read_hf(json + R"("linear_num_heads": 1, "linear_attn_config":
        {"num_heads": 48, "head_dim": 64, "short_conv_kernel_size": 3}})");
    EXPECT_TRUE(saved == own) << type;
    EXPECT_EQ(std::pair(saved.linear_num_value_heads, saved.linear_key_head_dim),
              std::pair(48, 64));
    EXPECT_EQ(saved.linear_conv_kernel_dim, 3);
  }
}

}  // namespace
}  // namespace attnbench
