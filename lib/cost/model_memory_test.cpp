// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cost/model_memory.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "lib/base/error.h"

namespace attnbench {
namespace {

constexpr CacheFormat kBf16Rows{};
constexpr CacheFormat kFp8DsMla{.dtype = DType::kE4M3, .scales = KvScales::kBlock};

const ModelGeometry& preset(const std::string& name) {
  const ModelGeometry* model = find_model(name);
  if (model == nullptr) throw std::runtime_error("no preset " + name);
  return *model;
}

ModelMemory memory_of(const std::string& name, int tp = 1, const CacheFormat& format = kBf16Rows) {
  return model_memory(preset(name), tp, format, DType::kBF16);
}

const LayerMemory& kind_of(const ModelMemory& memory, LayerKind kind) {
  for (const LayerMemory& each : memory.kinds) {
    if (each.kind == kind) return each;
  }
  throw std::runtime_error("no such layers");
}

// Figures of the models' published geometry: layers x (dk + dv) x KV heads x 2, for MLA 576 x 2 or
// 656 a layer.
TEST(ModelMemory, counts_the_bytes_of_a_token_in_all_layers) {
  EXPECT_EQ(memory_of("llama-3.1-8b").kv_bytes_per_token(), 131072);
  EXPECT_EQ(memory_of("llama-3.1-70b").kv_bytes_per_token(), 327680);
  EXPECT_EQ(memory_of("deepseek-v3").kv_bytes_per_token(), 70272);
  EXPECT_EQ(kind_of(memory_of("deepseek-v3"), LayerKind::kFull).kv_bytes_per_token, 1152);
  EXPECT_EQ(memory_of("deepseek-v3", 1, kFp8DsMla).kv_bytes_per_token(), 40016);
}

// DeepSeek's and GLM's indexers keep a key in e4m3 and its scale, MiniMax-M3's one in bf16.
TEST(ModelMemory, counts_the_keys_of_indexers_where_a_layer_has_its_own) {
  EXPECT_EQ(memory_of("deepseek-v3.2").index_bytes_per_token(), 61 * 132);
  EXPECT_EQ(memory_of("glm-5.2").index_bytes_per_token(), 21 * 132);
  EXPECT_EQ(memory_of("minimax-m3").index_bytes_per_token(), 57 * 256);
  EXPECT_EQ(memory_of("glm-5.3-flash").index_bytes_per_token(), 11 * 132.0 / 16);
  EXPECT_EQ(memory_of("deepseek-v3").index_bytes_per_token(), 0);
  EXPECT_EQ(memory_of("glm-5.2").request_bytes(1000), 1000 * (78 * 1152 + 21 * 132));
  // 100 tokens have 6 complete pools of 16, which take a page of 64 rows.
  const ModelMemory flash = memory_of("glm-5.3-flash", 1, {.page_size = 64});
  EXPECT_EQ(kind_of(flash, LayerKind::kSparse).request_bytes_of_all(100, 64),
            11 * (128 * 1024 + 64 * 132));
}

// The page's 21 (146 + 33) + 20 * 4.5625 with rows of 584 bytes, here of 1024.
TEST(ModelMemory, counts_a_token_as_its_part_of_a_compressed_row) {
  const ModelMemory memory = memory_of("deepseek-v4-flash");
  EXPECT_EQ(kind_of(memory, LayerKind::kSparse).growth(), 256);
  EXPECT_EQ(kind_of(memory, LayerKind::kCompressed).growth(), 8);
  EXPECT_EQ(memory.kv_bytes_per_token(), 2 * 1024 + 21 * 256 + 20 * 8);
  EXPECT_EQ(memory.index_bytes_per_token(), 21 * 33);
}

// vLLM's fp8_ds_mla: rows of 584 bytes. Beside the window a token takes 3850.25 bytes.
TEST(ModelMemory, counts_rows_of_584_bytes_of_deepseek_v4) {
  const ModelMemory memory =
      memory_of("deepseek-v4-flash", 1, {.dtype = DType::kE4M3, .scales = KvScales::kGroup});
  EXPECT_EQ(kind_of(memory, LayerKind::kSparse).growth(), 146);
  EXPECT_EQ(kind_of(memory, LayerKind::kCompressed).growth(), 4.5625);
  double grows = memory.index_bytes_per_token();
  std::int64_t window = 0;
  for (const LayerMemory& each : memory.kinds) {
    if (each.compress_ratio > 0) grows += each.layers * each.growth();
    window += each.layers * *each.most_tokens * each.kv_bytes_per_token;
  }
  EXPECT_EQ(grows, 3850.25);
  EXPECT_EQ(window, 3'214'336);
}

// A window of 128 lies in 192 tokens' pages of 64 at worst; 1024 and 32 rows in 1024 and 64.
TEST(ModelMemory, counts_compressed_rows_beside_a_window) {
  const ModelMemory memory = memory_of("deepseek-v4-flash", 4, {.page_size = 64});
  constexpr std::int64_t kRow = 512 * 2;
  EXPECT_EQ(kind_of(memory, LayerKind::kSliding).request_bytes(4096, 64), 192 * kRow);
  EXPECT_EQ(kind_of(memory, LayerKind::kSparse).request_bytes(4096, 64), (192 + 1024) * kRow);
  EXPECT_EQ(kind_of(memory, LayerKind::kCompressed).request_bytes(4096, 64), (192 + 64) * kRow);
  EXPECT_EQ(memory.request_bytes(4096), (43 * 192 + 21 * 1024 + 20 * 64) * kRow + 21 * 1024 * 132);
}

TEST(ModelMemory, divides_kv_heads_among_ranks_down_to_one_that_is_replicated) {
  EXPECT_EQ(memory_of("llama-3.1-70b", 8).kv_bytes_per_token(), 327680 / 8);
  EXPECT_EQ(memory_of("llama-3.1-70b", 16).kv_bytes_per_token(), 327680 / 8);
  // A latent row is the same on every rank.
  EXPECT_EQ(memory_of("deepseek-v3", 8).kv_bytes_per_token(), 70272);
}

TEST(ModelMemory, counts_the_state_and_the_convolution_of_a_gated_delta_net) {
  const LayerMemory linear = kind_of(memory_of("qwen3-next-80b-a3b"), LayerKind::kLinear);
  EXPECT_EQ(linear.layers, 36);
  EXPECT_EQ(linear.state_bytes, 2097152);
  EXPECT_EQ(linear.convolution_bytes, 49152);
  EXPECT_EQ(linear.kv_bytes_per_token, 0);
  EXPECT_EQ(linear.request_bytes(1, 1), linear.request_bytes(100000, 1));
  const LayerMemory of_four = kind_of(memory_of("qwen3-next-80b-a3b", 4), LayerKind::kLinear);
  EXPECT_EQ(of_four.state_bytes, 2097152 / 4);
  EXPECT_EQ(of_four.convolution_bytes, 49152 / 4);
}

// Qwen3-Next, 2 KV heads of 256 in bf16: vLLM takes pages of 544 tokens where states are kept in
// bf16, of 1056 where they are in f32.
TEST(ModelMemory, has_pages_of_a_hybrid_model_that_hold_a_state) {
  constexpr std::int64_t kConvolution = 49152, kToken = 2 * 2 * 256 * 2;
  EXPECT_EQ(hybrid_page_tokens(32 * 128 * 128 * 2 + kConvolution, kToken, 16), 544);
  EXPECT_EQ(hybrid_page_tokens(32 * 128 * 128 * 4 + kConvolution, kToken, 16), 1056);
  CacheFormat pages = kBf16Rows;
  pages.page_size = 16;
  EXPECT_EQ(memory_of("qwen3-next-80b-a3b", 1, pages).manager_page_tokens(), 1056);
  EXPECT_EQ(memory_of("llama-3.1-8b", 1, pages).manager_page_tokens(), std::nullopt);
}

TEST(ModelMemory, knows_no_bytes_of_linear_layers_of_unknown_heads) {
  ModelGeometry model = *find_model("minimax-text-01");
  model.linear_num_key_heads = 0;
  const ModelMemory memory = model_memory(model, 1, kBf16Rows, DType::kBF16);
  EXPECT_EQ(kind_of(memory, LayerKind::kLinear).state_bytes, std::nullopt);
  EXPECT_FALSE(kind_of(memory, LayerKind::kLinear).runs);
  EXPECT_EQ(memory.request_bytes(100), std::nullopt);
  EXPECT_EQ(memory.kv_bytes_per_token(), 10 * 8 * 256 * 2);
}

// Lightning attention has no convolution before it: 64 states of 128 x 128 in f32.
TEST(ModelMemory, of_lightning_attention_is_its_states) {
  const ModelMemory memory = memory_of("minimax-text-01");
  EXPECT_EQ(kind_of(memory, LayerKind::kLinear).state_bytes, 64 * 128 * 128 * 4);
  EXPECT_EQ(kind_of(memory, LayerKind::kLinear).convolution_bytes, 0);
}

// Kimi Linear: 32 states of 128 x 128 in f32, and three inputs of q, k and v in bf16.
TEST(ModelMemory, of_kimi_delta_attention_is_its_states_and_a_convolution_s_inputs) {
  const ModelMemory memory = memory_of("kimi-linear-48b");
  EXPECT_EQ(kind_of(memory, LayerKind::kLinear).state_bytes, 32 * 128 * 128 * 4);
  EXPECT_EQ(kind_of(memory, LayerKind::kLinear).convolution_bytes, 3 * 3 * 32 * 128 * 2);
}

TEST(ModelMemory, bounds_a_request_by_its_window_and_its_chunk) {
  const ModelMemory gpt_oss = memory_of("gpt-oss-120b");
  const std::int64_t row = 8 * 2 * 64 * 2;
  EXPECT_EQ(gpt_oss.kv_bytes_per_token(), 36 * row);
  EXPECT_EQ(gpt_oss.request_bytes(8192), 18 * 8192 * row + 18 * 128 * row);
  EXPECT_EQ(gpt_oss.request_bytes(100), 36 * 100 * row);
  const LayerMemory chunked = kind_of(memory_of("llama-4-scout"), LayerKind::kChunked);
  EXPECT_EQ(chunked.most_tokens, 8192);
  EXPECT_EQ(chunked.request_bytes(100000, 1), chunked.request_bytes(8192, 1));
}

TEST(ModelMemory, counts_each_kind_of_layers_by_its_own_heads) {
  const ModelMemory memory = memory_of("mimo-v2-flash");
  EXPECT_EQ(kind_of(memory, LayerKind::kFull).kv_bytes_per_token, 4 * (192 + 128) * 2);
  EXPECT_EQ(kind_of(memory, LayerKind::kSliding).kv_bytes_per_token, 8 * (192 + 128) * 2);
  EXPECT_EQ(memory.kv_bytes_per_token(), 9 * 2560 + 39 * 5120);
}

TEST(ModelMemory, counts_no_keys_of_layers_that_read_those_of_others) {
  ModelGeometry model = *find_model("gpt-oss-120b");  // 18 full, 18 sliding over 128
  model.kv_shared[LayerKind::kFull] = 3;
  model.kv_shared[LayerKind::kSliding] = 5;
  const ModelMemory memory = model_memory(model, 1, kBf16Rows, DType::kBF16);
  const std::int64_t row = 8 * 2 * 64 * 2;
  EXPECT_EQ(memory.kv_bytes_per_token(), (36 - 8) * row);
  EXPECT_EQ(memory.request_bytes(8192), 15 * 8192 * row + 13 * 128 * row);
  EXPECT_EQ(kind_of(memory, LayerKind::kFull).layers, 18);
}

// Whisper large-v3: 20 heads of 64, K and V in bf16, in each of 32 full and 32 cross layers.
TEST(ModelMemory, keeps_an_encoders_tokens_once_in_each_cross_layer_whatever_the_context) {
  const std::int64_t row = 20 * 2 * 64 * 2;
  const ModelMemory memory = memory_of("whisper-large-v3");
  EXPECT_EQ(memory.kv_bytes_per_token(), 32 * row);
  EXPECT_EQ(memory.encoder_bytes_per_token(), 32 * row);
  EXPECT_EQ(memory.request_bytes(200), 32 * 200 * row + 32 * 1500 * row);
  EXPECT_EQ(memory.request_bytes(201), 32 * 201 * row + 32 * 1500 * row);
  CacheFormat pages = kBf16Rows;
  pages.page_size = 64;
  EXPECT_EQ(
      kind_of(memory_of("whisper-large-v3", 1, pages), LayerKind::kCross).request_bytes(200, 64),
      1536 * row)
      << "whole pages";
  const ModelMemory short_audio =
      model_memory(preset("whisper-large-v3"), 1, kBf16Rows, DType::kBF16, 100);
  EXPECT_EQ(short_audio.request_bytes(200), 32 * (200 + 100) * row);
}

TEST(ModelMemory, in_one_row_has_room_for_both_kinds_of_tokens_in_every_layer) {
  const std::int64_t row = 20 * 2 * 64 * 2;
  EXPECT_EQ(memory_of("whisper-large-v3").request_bytes_in_one_row(200), 64 * (1500 + 200) * row);
  CacheFormat pages = kBf16Rows;
  pages.page_size = 64;
  EXPECT_EQ(memory_of("whisper-large-v3", 1, pages).request_bytes_in_one_row(200), 64 * 1728 * row)
      << "27 pages, where two tables would have 24 and 4";
  EXPECT_EQ(memory_of("llama-3.1-8b").request_bytes_in_one_row(200), std::nullopt);
  ModelGeometry unknown = preset("whisper-large-v3");
  unknown.encoder_len = 0;
  EXPECT_EQ(model_memory(unknown, 1, kBf16Rows, DType::kBF16).request_bytes_in_one_row(200),
            std::nullopt);
}

TEST(ModelMemory, knows_no_request_whose_encoder_has_no_length) {
  ModelGeometry model = preset("whisper-large-v3");
  model.encoder_len = 0;
  EXPECT_EQ(model_memory(model, 1, kBf16Rows, DType::kBF16).request_bytes(200), std::nullopt);
  EXPECT_THROW(
      static_cast<void>(model_memory(preset("llama-3.1-8b"), 1, kBf16Rows, DType::kBF16, 1500)),
      ConfigError);
}

TEST(ModelMemory, keeps_whole_pages_and_one_more_for_a_window_that_begins_inside_one) {
  CacheFormat pages = kBf16Rows;
  pages.page_size = 64;
  const ModelMemory memory = memory_of("gpt-oss-120b", 1, pages);
  EXPECT_EQ(kind_of(memory, LayerKind::kSliding).most_tokens, 128 + 64);
  const LayerMemory full = kind_of(memory, LayerKind::kFull);
  EXPECT_EQ(full.request_bytes(65, 64), 128 * full.kv_bytes_per_token);
  // A chunk begins at a multiple of itself, hence of the page.
  EXPECT_EQ(kind_of(memory_of("llama-4-scout", 1, pages), LayerKind::kChunked).most_tokens, 8192);
}

TEST(ModelMemory, counts_scales_of_tokens) {
  CacheFormat scaled{.dtype = DType::kE4M3, .scales = KvScales::kToken};
  EXPECT_EQ(memory_of("llama-3.1-8b", 1, scaled).kv_bytes_per_token(), 32 * 8 * 2 * (128 + 4));
  scaled.scales = KvScales::kHead;
  EXPECT_EQ(memory_of("llama-3.1-8b", 1, scaled).kv_bytes_per_token(), 32 * 8 * 2 * 128);
}

TEST(ModelMemory, refuses_heads_that_do_not_divide_and_rows_that_the_model_has_not) {
  EXPECT_THROW(static_cast<void>(memory_of("llama-3.1-8b", 3)), ConfigError);
  EXPECT_THROW(static_cast<void>(memory_of("llama-3.1-8b", 1, kFp8DsMla)), ConfigError);
}

}  // namespace
}  // namespace attnbench
