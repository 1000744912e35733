// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"
#include "lib/batch/cache_format.h"
#include "lib/batch/fp8_activations.h"
#include "lib/scenario/fill.h"

// The formulas of tensor contents. constexpr, out of integers and single IEEE operations, so that a
// host and a GPU that runs the same functions (compiled without fusing a*b+c) agree in every bit.
namespace attnbench {

/// What the formulas need to know of a case; trivially copyable, for a GPU's argument list.
struct ContentParams {
  Fill fill = Fill::kNormal;
  std::uint64_t seed = 0;
  int group_size = 1;                ///< query heads per KV head
  std::uint32_t head_dim_qk = 0;     ///< of a K row and of each form of a query
  std::uint32_t query_variants = 1;  ///< AttentionLayer::query_variants()
  std::uint32_t head_dim_v = 0;
  /// Dims [match_begin, head_dim_qk) of Q and K carry planted logits. MLA keeps them off the
  /// leading columns, which hold V; 0 where V has rows of its own.
  std::uint32_t match_begin = 0;
  float needle_size = 0;          ///< of a planted key, per dim; kSample: of the request's
  float extreme_size[2][4] = {};  ///< by parity of the KV head, then as kExtremeSteps
  DType dtype = DType::kBF16;     ///< of new K and V
  DType kv_dtype = DType::kBF16;
  float k_scale = 1;
  float v_scale = 1;  ///< MLA: k_scale
  KvScales scales = KvScales::kTensor;
  std::uint64_t scale_seed = 0;  ///< of sinks, and scales other than k_scale: of all fills
  /// Power of two that the scales of tokens and blocks are built on: times the largest number of
  /// the cache's type it covers all values of the fill. The same for kTiming and kSample.
  float k_scale_unit = 1, v_scale_unit = 1;
  bool writes_blocks = false;  ///< the step computes the scales of its new rows
  DType q_dtype = DType::kBF16;
  QScales q_scales = QScales::kTensor;
  float q_scale = 1;
};

/// How the elements of (a part of) a row come about.
enum class Formula : std::uint8_t {
  kZero,
  kNormal,         ///< factor times a normal number
  kNormalTowards,  ///< the same, plus the direction from match_begin on
  kTowards,        ///< factor times the direction
  kSparseInteger,  ///< four fifths zeros, the rest -2, -1, 1, 2
  kInteger,        ///< -4 .. 4
  kHalves,         ///< low in the first half, high in the second
};

struct RowRecipe {
  Formula formula = Formula::kZero;
  std::uint64_t key = 0;
  std::uint64_t towards = 0;      ///< key of the direction: +1 or -1 per dim
  std::uint32_t first = 0;        ///< dim of the row at which the key's elements start to count
  std::uint32_t match_begin = 0;  ///< first dim that has the direction
  float along = 1;                ///< kNormalTowards: of the direction
  std::uint32_t half = 0;         ///< kHalves: dims of the first half
  float factor = 0;
  float low = 0, high = 0;
};

namespace content_detail {

/// Standard deviation of everything that is not planted, small enough not to drown the needles.
inline constexpr float kNeedleNoise = 0.3f;

/// As kLargestNormal of contents.h.
inline constexpr float kLargestNormal = 3.47f;

/// Two digits of base 13 tell 169 neighbouring tokens apart; -6..6 is exact even in e4m3, and so
/// are their sums in f32.
inline constexpr std::int64_t kTagBase = 13;

[[nodiscard]] constexpr float direction(std::uint64_t key, std::uint32_t dim) {
  return (element_bits(key, dim) & 1u) != 0 ? 1.0f : -1.0f;
}

[[nodiscard]] constexpr std::uint64_t direction_key(const ContentParams& p, int kv_head) {
  return row_key(p.seed, Role::kNeedle, 0, 0, kv_head);
}

}  // namespace content_detail

/// Element `dim` of a row made by `formula`, before rounding.
template <Formula formula>
[[nodiscard]] constexpr float row_element(const RowRecipe& r, std::uint32_t dim) {
  using content_detail::direction;
  if constexpr (formula == Formula::kNormal) {
    return r.factor * normal_element(r.key, dim - r.first);
  } else if constexpr (formula == Formula::kNormalTowards) {
    const float value = r.factor * normal_element(r.key, dim - r.first);
    return dim < r.match_begin ? value : value + r.along * direction(r.towards, dim);
  } else if constexpr (formula == Formula::kTowards) {
    return r.factor * direction(r.towards, dim);
  } else if constexpr (formula == Formula::kSparseInteger) {
    const std::uint32_t bits = element_bits(r.key, dim - r.first);
    const float magnitude = (bits & 1u) != 0 ? 1.0f : 2.0f;
    const float value = (bits & 2u) != 0 ? magnitude : -magnitude;
    return (bits >> 8) % 5 == 0 ? value : 0.0f;
  } else if constexpr (formula == Formula::kInteger) {
    const std::uint32_t bits = element_bits(r.key, dim - r.first);
    return static_cast<float>(static_cast<std::int32_t>(bits % 9)) - 4.0f;
  } else if constexpr (formula == Formula::kHalves) {
    return dim < r.half ? r.low : r.high;
  } else {
    return 0.0f;
  }
}

template <Formula formula>
struct FormulaTag {
  static constexpr Formula value = formula;
};

/// Calls `visit` with the formula as a type, so that it is a constant in a loop over dims.
template <class Visit>
constexpr void with_formula(Formula formula, const Visit& visit) {
  switch (formula) {
    case Formula::kZero:
      return visit(FormulaTag<Formula::kZero>{});
    case Formula::kNormal:
      return visit(FormulaTag<Formula::kNormal>{});
    case Formula::kNormalTowards:
      return visit(FormulaTag<Formula::kNormalTowards>{});
    case Formula::kTowards:
      return visit(FormulaTag<Formula::kTowards>{});
    case Formula::kSparseInteger:
      return visit(FormulaTag<Formula::kSparseInteger>{});
    case Formula::kInteger:
      return visit(FormulaTag<Formula::kInteger>{});
    case Formula::kHalves:
      return visit(FormulaTag<Formula::kHalves>{});
  }
}

/// Q of a stream's query token; of a layer whose queries have several forms, form `variant`.
[[nodiscard]] constexpr RowRecipe q_recipe(const ContentParams& p, std::uint64_t stream,
                                           std::int64_t token, int head, std::uint32_t variant) {
  RowRecipe r;
  r.key = row_key(p.seed, Role::kQ, stream, token, head);
  if (variant > 0) r.key = combine(r.key, variant);
  r.match_begin = p.match_begin;
  switch (p.fill) {
    case Fill::kTag:
      // Zero queries weigh all visible keys alike, so O is an exact mean of tags. (Zero keys would
      // do the same but are V as well under MLA.)
      r.formula = Formula::kZero;
      break;
    case Fill::kSparseInt:
      r.formula = Formula::kSparseInteger;
      break;
    case Fill::kNeedle:
    case Fill::kExtreme:
      r.formula = Formula::kNormalTowards;
      r.towards = content_detail::direction_key(p, head / p.group_size);
      r.factor = p.fill == Fill::kNeedle ? content_detail::kNeedleNoise : 0.0f;
      // A planted key weighs otherwise under another form: e^3.2 less from one to the next.
      if (p.fill == Fill::kNeedle) r.along = 1 - 0.25f * static_cast<float>(variant);
      break;
    case Fill::kSample:
      r.formula = Formula::kNormalTowards;
      r.towards = content_detail::direction_key(p, head / p.group_size);
      r.factor = 1;
      break;
    case Fill::kNormal:
    case Fill::kTiming:
      r.formula = Formula::kNormal;
      r.factor = 1;
      break;
  }
  return r;
}

/// Dims [match_begin, head_dim_qk) of K at a stream's position; `planted`: a needle lies there.
[[nodiscard]] constexpr RowRecipe k_recipe(const ContentParams& p, std::uint64_t stream,
                                           bool planted, std::int64_t position, int head) {
  RowRecipe r;
  r.key = row_key(p.seed, Role::kK, stream, position, head);
  r.first = p.match_begin;
  r.match_begin = p.match_begin;
  switch (p.fill) {
    case Fill::kNeedle:
      if (planted) {
        r.formula = Formula::kTowards;
        r.towards = content_detail::direction_key(p, head);
        r.factor = p.needle_size;
      } else {
        r.formula = Formula::kNormal;
        r.factor = content_detail::kNeedleNoise;
      }
      break;
    case Fill::kExtreme: {
      const std::uint32_t draw =
          element_bits(row_key(p.seed, Role::kExtreme, stream, position, head), 0) % 64;
      const int step = draw == 0 ? 0 : draw < 5 ? 1 : draw < 17 ? 2 : 3;
      r.formula = Formula::kTowards;
      r.towards = content_detail::direction_key(p, head);
      r.factor = p.extreme_size[head % 2][step];
      break;
    }
    case Fill::kSparseInt:
      r.formula = Formula::kSparseInteger;
      break;
    case Fill::kSample:  // of the one key of a request that a sample replaces
      // With noise, so that it looks like other keys, and no element is larger than theirs.
      r.formula = Formula::kNormalTowards;
      r.towards = content_detail::direction_key(p, head);
      r.along = p.needle_size;
      if (p.needle_size < content_detail::kLargestNormal) {
        r.factor = 1 - p.needle_size / content_detail::kLargestNormal;
      }
      break;
    case Fill::kTag:
    case Fill::kNormal:
    case Fill::kTiming:
      r.formula = Formula::kNormal;
      r.factor = 1;
      break;
  }
  return r;
}

/// V at a stream's position; under MLA dims [0, match_begin) of the K row.
[[nodiscard]] constexpr RowRecipe v_recipe(const ContentParams& p, std::uint64_t stream,
                                           std::int64_t position, int head) {
  using content_detail::kTagBase;
  RowRecipe r;
  r.key = row_key(p.seed, Role::kV, stream, position, head);
  r.match_begin = p.match_begin;
  if (p.fill == Fill::kSparseInt) {
    r.formula = Formula::kInteger;
  } else if (p.fill == Fill::kTag) {
    // Heads are offset against each other so that a wrong head map cannot cancel.
    const std::int64_t tag = position + 5 * static_cast<std::int64_t>(head);
    r.formula = Formula::kHalves;
    r.half = p.head_dim_v / 2;
    r.low = static_cast<float>(tag % kTagBase - kTagBase / 2);
    r.high = static_cast<float>(tag / kTagBase % kTagBase - kTagBase / 2);
  } else {
    r.formula = Formula::kNormal;
    r.factor = 1;
  }
  return r;
}

/// Sink logit of a query head, in scaled-logit space; a model's parameter, the same for all fills.
/// bf16 holds it exactly, as gpt-oss's checkpoints have it, so that kernels that take sinks in bf16
/// (FlashAttention 3) compute the same.
[[nodiscard]] constexpr float sink_logit(const ContentParams& p, int head) {
  return rounded(DType::kBF16, normal_element(row_key(p.scale_seed, Role::kSink, 0, 0, head), 0));
}

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
  std::uint64_t key = 0;      ///< of the blocks' scales
  std::uint32_t peak = kNoPeak;  ///< dim of the peak of a row that has a scale of its own
  bool powers_of_two = true;     ///< all scales of blocks

  /// Of values [kScaleBlock * block, kScaleBlock * (block + 1)).
  [[nodiscard]] constexpr float of_block(std::uint32_t block) const {
    const std::uint32_t bits = element_bits(key, block);
    if (!powers_of_two) return all * content_detail::short_scale(bits);
    return (bits & 1u) != 0 ? 2 * all : all;
  }
  /// Dim of the block's peak.
  [[nodiscard]] constexpr std::uint32_t peak_of_block(std::uint32_t block) const {
    return block * kScaleBlock + (element_bits(key, block) >> 8) % kScaleBlock;
  }
  [[nodiscard]] constexpr float at(std::uint32_t dim) const {
    if (blocked == 0) return all;
    return dim < blocked ? of_block(dim / kScaleBlock) : 1.0f;
  }
  [[nodiscard]] constexpr bool is_peak(std::uint32_t dim) const {
    if (blocked == 0) return dim == peak;
    return dim < blocked && dim == peak_of_block(dim / kScaleBlock);
  }
};

namespace content_detail {

/// A short scale of one of three sizes, as one that tensors share may be.
[[nodiscard]] constexpr float shared_scale(std::uint64_t key) {
  const std::uint32_t bits = element_bits(key, 0);
  constexpr float kSizes[] = {1.0f, 0.5f, 0.25f};
  return short_scale(bits) * kSizes[(bits >> 8) % 3];
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
      scale.all = source.unit;
      scale.blocked = p.match_begin;
      scale.powers_of_two = p.writes_blocks;
      scale.key = row_key(p.scale_seed, source.role, stream, position, head);
      break;
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

/// Type of element `dim` of a stored row of K, or of V.
[[nodiscard]] constexpr DType cached_dtype(const ContentParams& p, std::uint32_t dim) {
  return p.scales == KvScales::kBlock && dim >= p.match_begin ? DType::kBF16 : p.kv_dtype;
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
