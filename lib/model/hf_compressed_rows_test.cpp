// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_compressed_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "lib/model/testing/read_hf.h"

namespace attnbench {
namespace {

// As the checkpoint lists its layers, with one of the draft head behind them.
TEST(HfCompressedRows, of_deepseek_v4_stand_beside_windows_in_two_ratios) {
  std::string ratios = "0, 0";
  for (int layer = 2; layer < 43; ++layer) ratios += layer % 2 == 0 ? ", 4" : ", 128";
  const ModelGeometry flash = read_hf(
      R"({"model_type": "deepseek_v4", "num_nextn_predict_layers": 1, "compress_ratios": [)" +
      ratios + ", 0]}");
  EXPECT_EQ(flash.kinds.text(), "2 sliding, 21 sparse, 20 compressed");
  const ModelGeometry* const preset = find_model("deepseek-v4-flash");
  ASSERT_NE(preset, nullptr);
  EXPECT_EQ(flash.kinds, preset->kinds);
  for (const LayerKind kind : {LayerKind::kSliding, LayerKind::kSparse, LayerKind::kCompressed}) {
    const AttentionLayer own = layer_of(flash, kind, 4), of_preset = layer_of(*preset, kind, 4);
    EXPECT_EQ(own.selection, of_preset.selection);
    EXPECT_EQ(own.compress_ratio, of_preset.compress_ratio);
    EXPECT_EQ(own.heads_q, 16);
    EXPECT_EQ(std::pair(own.head_dim_qk, own.head_dim_v), std::pair(512, 512));
    EXPECT_EQ(own.sliding_window_size, 127);
    EXPECT_TRUE(own.has_sinks);
    EXPECT_NEAR(own.scale, 0.0441941738, 1e-10);
  }
  const AttentionLayer csa = layer_of(flash, LayerKind::kSparse, 1);
  EXPECT_EQ(std::pair(csa.selection.topk, csa.compress_ratio), std::pair(512L, 4L));
  EXPECT_EQ(layer_of(flash, LayerKind::kCompressed, 1).compress_ratio, 128);
  EXPECT_EQ(layer_of(flash, LayerKind::kSliding, 1).compress_ratio, 0);

  EXPECT_EQ(read_hf(R"({"model_type": "deepseek_v4"})").kinds.text(), "20 sparse, 23 compressed")
      << "transformers' default, which is DeepSeek-V4-Pro's pattern";
  const ModelGeometry listed = read_hf(R"({"model_type": "deepseek_v4", "num_hidden_layers": 3,
      "layer_types": ["sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"],
      "compress_rates": {"compressed_sparse_attention": 8, "heavily_compressed_attention": 64}})");
  EXPECT_EQ(listed.kinds.text(), "1 sliding, 1 sparse, 1 compressed");
  EXPECT_EQ(std::pair(listed.index_compress_ratio, listed.compress_ratio), std::pair(8, 64));
  EXPECT_NE(hf_refusal(R"({"model_type": "deepseek_v4", "compress_ratios": [2]})")
                .find("compress_ratios has 1 entries for 43 layers"),
            std::string::npos);
  EXPECT_NE(hf_refusal(R"({"model_type": "deepseek_v4", "num_hidden_layers": 1,
                           "compress_ratios": [2]})")
                .find("compress_ratios has 2; known are 0, 4 and 128"),
            std::string::npos);
}

}  // namespace
}  // namespace attnbench
