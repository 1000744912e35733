// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lib/base/dtype.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

struct ModelGeometry;

/// Where rows of K and V lie. The numbers in a cache, and hence all results, are the same in each.
/// MLA has one row for both, [pages, page_size, 1, dim]: kNhd and kHnd are one there.
enum class KvLayout : std::uint8_t {
  kNhd,       ///< K and V each [pages, page_size, heads, dim]
  kHnd,       ///< K and V each [pages, heads, page_size, dim]
  kCombined,  ///< one buffer [2, pages, page_size, heads, dim], K then V (vLLM's flash layout)
  /// K [pages, heads, dim / x, page_size, x] with x = 16 bytes of elements, V [pages, heads, dim,
  /// page_size] (vLLM's paged_attention_v1 and _v2)
  kXPacked,
  // Of a recurrent layer, which has states instead of rows:
  kStatesKv,  ///< [slots, heads, key dim, value dim] (flash-linear-attention's default)
  kStatesVk,  ///< [slots, heads, value dim, key dim] (vLLM's and SGLang's)
  /// No pool: K and V each [sum of kv_len, heads, dim], request after request, as projections leave
  /// them (FlashInfer's ragged prefill, FlashAttention's varlen). The keys of request r begin at
  /// row cu_seqlens_k[r]. A slot is a row, and there is no dummy; poison lies behind the last.
  kRagged,
  // One buffer in which the K and the V of a token and head are one row (vLLM from 0.33):
  kJoint,     ///< [pages, page_size, heads, K's dim + V's]
  kJointHnd,  ///< [pages, heads, page_size, K's dim + V's]
};
[[nodiscard]] constexpr bool is_of_states(KvLayout layout) {
  return layout == KvLayout::kStatesKv || layout == KvLayout::kStatesVk;
}
[[nodiscard]] constexpr bool is_joint(KvLayout layout) {
  return layout == KvLayout::kJoint || layout == KvLayout::kJointHnd;
}
/// Of rows of K and V in pages.
inline constexpr KvLayout kPoolLayouts[] = {KvLayout::kNhd,      KvLayout::kHnd,
                                            KvLayout::kCombined, KvLayout::kXPacked,
                                            KvLayout::kJoint,    KvLayout::kJointHnd};

/// That a cache of keys and values can be asked for.
inline constexpr std::array kCacheLayouts = {
    KvLayout::kNhd,   KvLayout::kHnd,      KvLayout::kCombined, KvLayout::kXPacked,
    KvLayout::kJoint, KvLayout::kJointHnd, KvLayout::kRagged};

/// What a stored number of the cache is multiplied with to get the number that it stands for.
/// Other than kTensor is for fp8 caches alone. A KV write is given the scales of tensors, heads and
/// requests, and computes and stores those of tokens and blocks: written_scale().
enum class KvScales : std::uint8_t {
  kTensor,  ///< k_scale and v_scale, for all of K and all of V
  kHead,    ///< f32 [heads], for K and for V
  kToken,   ///< f32 [slots, heads], for K and for V: of each row its own
  /// Inside an MLA row, one for each 128 values of its latent part, whose rope part is bf16: 512
  /// e4m3, 4 f32, 64 bf16, 656 bytes of DeepSeek's (vLLM's fp8_ds_mla, FlashMLA's sparse kernels)
  kBlock,
  /// f32 [requests, heads], for K and for V, as FlashAttention 3 takes k_descale and v_descale. No
  /// row belongs to two requests.
  kRequest,
  /// One for each 64 of a latent row that is all K and V, but for its last 64 columns, which are in
  /// bf16. Such a scale is a power of two, a byte that holds its exponent + 127. In a page come all
  /// rows first, then 8 bytes for each, its scales and zeros: 448 e4m3, 64 bf16, 7 scales and a
  /// zero, 584 bytes of DeepSeek-V4's (vLLM's fp8_ds_mla there, FlashMLA's sparse kernels).
  kGroup,
};

inline constexpr std::array kCacheScales = {KvScales::kTensor,  KvScales::kHead,
                                            KvScales::kToken,   KvScales::kBlock,
                                            KvScales::kRequest, KvScales::kGroup};

/// Rows that bring along scales of blocks: BlockRow.
[[nodiscard]] constexpr bool are_of_blocks(KvScales scales) {
  return scales == KvScales::kBlock || scales == KvScales::kGroup;
}

[[nodiscard]] std::string_view to_string(KvLayout layout);
[[nodiscard]] std::string_view to_string(KvScales scales);

/// How rows of K and V lie in the KV cache. MLA: the one latent row that serves as both.
struct CacheFormat {
  DType dtype = DType::kBF16;
  KvLayout layout = KvLayout::kNhd;
  std::int64_t page_size = 1;  ///< tokens
  KvScales scales = KvScales::kTensor;
  /// Tokens from the beginning of a page to that of the next, at least page_size: behind a page's
  /// rows lies room for as many more, which are not the layer's. 0: page_size.
  std::int64_t page_stride = 0;

  [[nodiscard]] constexpr std::int64_t tokens_apart() const {
    return page_stride > page_size ? page_stride : page_size;
  }
  [[nodiscard]] constexpr bool has_gaps() const { return tokens_apart() > page_size; }

  friend bool operator==(const CacheFormat&, const CacheFormat&) = default;
};

/// "e4m3 NHD", "e4m3 x_packed with a scale per head", "fp8_ds_mla", "fp8_ds_mla of V4".
[[nodiscard]] std::string to_string(const CacheFormat& format);

/// vLLM's name of rows that bring along scales of blocks.
inline constexpr const char* kDsMlaRows = "fp8_ds_mla";
/// Which of them it has for a model: those of DeepSeek-V4 where heads are rows themselves, so that
/// nothing is absorbed (kv_lora_rank columns in a head, none of K only), else those of V3.2.
[[nodiscard]] KvScales ds_mla_scales(const ModelGeometry& model);

/// Why a cache of this layer cannot be of the format; empty when it can.
[[nodiscard]] std::string layout_refusal(const AttentionLayer& layer, const CacheFormat& format);
[[nodiscard]] std::string scales_refusal(const AttentionLayer& layer, const CacheFormat& format);

/// Under kToken, kBlock and kGroup, the scale that a KV write gives the numbers of a row, or of a
/// block, whose largest magnitude is `amax`: amax / largest_finite(dtype), so that this magnitude
/// becomes the largest number of the cache's type. It is at least 1e-6 under kToken, as in vLLM's
/// triton_reshape_and_cache_flash_per_token_head_quant, and at least the smallest normal f32 under
/// kBlock, as in its concat_and_cache_ds_mla. One IEEE division in f32. Under kGroup it is rounded
/// up to a power of two, and amax is at least 1e-4.
[[nodiscard]] constexpr float written_scale(DType dtype, KvScales scales, float amax) {
  if (scales == KvScales::kGroup) {
    return rounded_up_to_power_of_two((amax < 1e-4f ? 1e-4f : amax) / largest_finite(dtype));
  }
  const float scale = amax / largest_finite(dtype);
  const float least = scales == KvScales::kBlock ? 0x1p-126f : 1e-6f;
  return scale < least ? least : scale;
}

/// A latent row that brings scales of blocks along: columns in the cache's type that have one, and
/// behind them columns in bf16 that have none.
struct BlockRow {
  static constexpr int kAll = 1 << 30;

  int block = 0;      ///< columns that share a scale; 0: no such row
  int scaled = kAll;  ///< columns that have one
  int plain_at = 0;   ///< byte of the row at which its columns in bf16 begin
  int bytes = 0;      ///< of the row, without scales that lie behind its page's rows
  /// Bytes of a token behind all rows of its page: its scales, a byte each (e8m0), and zeros. 0:
  /// its scales lie in the row, in f32, before the columns in bf16.
  int behind = 0;

  [[nodiscard]] constexpr bool exists() const { return block > 0; }
  /// How many scales it brings along.
  [[nodiscard]] constexpr int scales() const { return exists() ? scaled / block : 0; }
  [[nodiscard]] constexpr int scale_bytes() const { return behind > 0 ? 1 : 4; }
  [[nodiscard]] constexpr int token_bytes() const { return bytes + behind; }
  /// A page with scales behind its rows is as long as a whole number of rows.
  [[nodiscard]] constexpr std::int64_t page_bytes(std::int64_t tokens) const {
    const std::int64_t used = tokens * token_bytes();
    return behind > 0 ? (used + bytes - 1) / bytes * bytes : used;
  }
};

/// The row of a latent cache; `rank` is kv_lora_rank, `dim` with the rope part.
[[nodiscard]] constexpr BlockRow block_row(KvScales scales, int rank, int dim) {
  if (!are_of_blocks(scales)) return {};
  const bool by_page = scales == KvScales::kGroup;
  const int block = by_page ? 64 : 128;
  const int scaled = by_page ? rank - 64 : rank, count = scaled / block;
  const int plain_at = by_page ? scaled : scaled + count * 4;
  return {block, scaled, plain_at, plain_at + (dim - scaled) * 2,
          by_page ? (count + 7) / 8 * 8 : 0};
}

/// What a scale behind a page's rows says: an exponent + 127, or that there is none (NaN).
[[nodiscard]] constexpr float e8m0_value(std::uint8_t bits) {
  const std::uint32_t exponent = std::uint32_t{bits} << 23;
  return std::bit_cast<float>(bits == 0 ? 0x400000u : bits == 0xff ? 0x7fc00000u : exponent);
}
[[nodiscard]] constexpr std::uint8_t e8m0_bits(float power_of_two) {
  return static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(power_of_two) >> 23);
}

/// Elements of a K row that lie together under KvLayout::kXPacked.
[[nodiscard]] constexpr int x_of(DType dtype) { return static_cast<int>(16 / size_bytes(dtype)); }

}  // namespace attnbench
