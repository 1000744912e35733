// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"
#include "lib/batch/cache_format.h"
#include "lib/contents/content_rows.h"

// What stored rows are multiplied with. constexpr, as content_rows.h is.
namespace attnbench {

namespace content_detail {

/// 1 to 15/8 in eighths. Four significant bits: the product with a stored fp8 number is exact in
/// f32 and bf16.
[[nodiscard]] constexpr float short_scale(std::uint32_t bits) {
  return static_cast<float>(8 + bits % 8) / 8.0f;
}

}  // namespace content_detail

/// What the stored elements of a row are multiplied with.
///
/// A KV write computes the scales of tokens and blocks from the numbers that it is given
/// (written_scale()). So that it finds exactly these, one stored number that shares such a scale,
/// the peak, is the largest of its type. Scales are short, and those of blocks that a step writes
/// powers of two, which makes the quotients exact: writers that multiply with a reciprocal or round
/// scales up to powers of two, as DeepSeek's do, come to the same bits. Blocks that are read alone
/// have scales between powers of two, as vLLM's writer leaves them, so that a kernel that keeps
/// the exponent alone (UE8M0) computes something else.
struct RowScale {
  static constexpr std::uint32_t kNoPeak = 0xffffffffu;

  float all = 1;              ///< of blocks: the smallest one of their sizes
  std::uint32_t blocked = 0;  ///< leading dims that have a scale by block instead; the rest has 1
  int block_bits = 0;         ///< a block has 2^this of them
  std::uint64_t key = 0;      ///< of the blocks' scales
  std::uint32_t peak = kNoPeak;  ///< dim of the peak of a row that has a scale of its own
  bool powers_of_two = true;     ///< all scales of blocks

  [[nodiscard]] constexpr std::uint32_t block() const { return 1u << block_bits; }
  /// The scale of dims [block() * block, block() * (block + 1)).
  [[nodiscard]] constexpr float of_block(std::uint32_t block) const {
    const std::uint32_t bits = element_bits(key, block);
    if (!powers_of_two) return all * content_detail::short_scale(bits);
    return (bits & 1u) != 0 ? 2 * all : all;
  }
  /// Dim of the block's peak.
  [[nodiscard]] constexpr std::uint32_t peak_of_block(std::uint32_t block) const {
    return (block << block_bits) + (element_bits(key, block) >> 8) % this->block();
  }
  [[nodiscard]] constexpr float at(std::uint32_t dim) const {
    if (blocked == 0) return all;
    return dim < blocked ? of_block(dim >> block_bits) : 1.0f;
  }
  [[nodiscard]] constexpr bool is_peak(std::uint32_t dim) const {
    if (blocked == 0) return dim == peak;
    return dim < blocked && dim == peak_of_block(dim >> block_bits);
  }
};

namespace content_detail {

/// A short scale of one of three sizes, as one that tensors share may be.
[[nodiscard]] constexpr float shared_scale(std::uint64_t key) {
  const std::uint32_t bits = element_bits(key, 0);
  constexpr float kSizes[] = {1.0f, 0.5f, 0.25f};
  return short_scale(bits) * kSizes[(bits >> 8) % 3];
}

/// The logarithm of a power of two. In device code nvcc 13.0 makes std::countr_zero() the constant
/// 32.
[[nodiscard]] constexpr int bits_of_power(int power) {
  int bits = 0;
  while ((power >> bits) > 1) ++bits;
  return bits;
}

/// What the scales of K's rows, or of V's, are made of.
struct ScaleSource {
  Role role;
  float of_tensor;
  float unit;
  std::uint32_t dims;
};

[[nodiscard]] constexpr RowScale row_scale(const ContentParams& p, const ScaleSource& source,
                                           std::uint64_t stream, std::int64_t position, int head) {
  RowScale scale;
  switch (p.scales) {
    case KvScales::kTensor:
      scale.all = source.of_tensor;
      break;
    case KvScales::kHead:
      scale.all = shared_scale(row_key(p.scale_seed, source.role, 0, 0, head));
      break;
    case KvScales::kRequest:  // no prefix is shared, so that a stream is a request's
      scale.all = shared_scale(row_key(p.scale_seed, source.role, stream, 0, head));
      break;
    case KvScales::kToken: {
      const std::uint64_t key = row_key(p.scale_seed, source.role, stream, position, head);
      scale.all = short_scale(element_bits(key, 0)) * source.unit;
      scale.peak = element_bits(key, 1) % source.dims;
      break;
    }
    case KvScales::kBlock:
    case KvScales::kGroup: {
      const BlockRow row =
          block_row(p.scales, static_cast<int>(p.head_dim_v), static_cast<int>(p.head_dim_qk));
      scale.all = source.unit;
      scale.blocked = static_cast<std::uint32_t>(row.scaled);
      scale.block_bits = bits_of_power(row.block);
      scale.powers_of_two = p.writes_blocks || p.scales == KvScales::kGroup;
      scale.key = row_key(p.scale_seed, source.role, stream, position, head);
      break;
    }
  }
  return scale;
}

}  // namespace content_detail

/// What a stored query is multiplied with: of a stream's token and a query head. The same for all
/// fills, and short even where it is a token's own, so that bf16 holds what it makes of fp8.
[[nodiscard]] constexpr float q_row_scale(const ContentParams& p, std::uint64_t stream,
                                          std::int64_t token, int head) {
  if (p.q_scales == QScales::kTensor) return p.q_scale;
  const bool of_token = p.q_scales == QScales::kToken;
  const bool of_head = p.q_scales == QScales::kHead;
  return content_detail::shared_scale(row_key(p.scale_seed, Role::kQScale, of_head ? 0 : stream,
                                              of_token ? token : 0,
                                              of_token ? head : head / p.group_size));
}

/// Of K at a stream's position. Scales of heads and requests are the same for all fills of a case,
/// where they are parameters; those of tokens and blocks are the same for all timed samples.
[[nodiscard]] constexpr RowScale k_row_scale(const ContentParams& p, std::uint64_t stream,
                                             std::int64_t position, int head) {
  return content_detail::row_scale(p, {Role::kKScale, p.k_scale, p.k_scale_unit, p.head_dim_qk},
                                   stream, position, head);
}
/// Of V; under MLA K's, whose row it is a part of.
[[nodiscard]] constexpr RowScale v_row_scale(const ContentParams& p, std::uint64_t stream,
                                             std::int64_t position, int head) {
  if (p.match_begin > 0) return k_row_scale(p, stream, position, head);
  return content_detail::row_scale(p, {Role::kVScale, p.v_scale, p.v_scale_unit, p.head_dim_v},
                                   stream, position, head);
}

/// Type of element `dim` of a stored row of K, or of V, with such a scale.
[[nodiscard]] constexpr DType cached_dtype(const ContentParams& p, const RowScale& scale,
                                           std::uint32_t dim) {
  return scale.blocked > 0 && dim >= scale.blocked ? DType::kBF16 : p.kv_dtype;
}

/// Storage bits of `value` divided by `scale`. Scale 1 skips the division so that plain dtypes stay
/// exact.
[[nodiscard]] constexpr std::uint32_t scaled_bits(DType dtype, float scale, float value) {
  return storage_bits(dtype, scale != 1.0f ? value / scale : value);
}

/// What a cache of `dtype` keeps of `value` as element `dim` of a row: storage bits.
[[nodiscard]] constexpr std::uint32_t cached_bits(DType dtype, const RowScale& scale,
                                                  std::uint32_t dim, float value) {
  if (scale.is_peak(dim)) {
    const bool negative = std::bit_cast<std::uint32_t>(value) >> 31 != 0;
    return storage_bits(dtype, negative ? -largest_finite(dtype) : largest_finite(dtype));
  }
  return scaled_bits(dtype, scale.at(dim), value);
}

}  // namespace attnbench
