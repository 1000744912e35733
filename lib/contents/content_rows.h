// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  bool is_delta_net = true;          ///< of recurrent layers: else q and k are not normalised
  bool is_lightning = false;         ///< gates are the layer's own
  int group_size = 1;                ///< query heads per KV head
  std::uint32_t head_dim_qk = 0;     ///< of a K row and of each form of a query
  std::uint32_t query_variants = 1;  ///< AttentionLayer::query_variants()
  std::uint32_t head_dim_v = 0;
  /// Dims [match_begin, head_dim_qk) of Q and K carry planted logits. MLA keeps them off the
  /// leading columns, which hold V (first_planted_dim()); 0 where V has rows of its own.
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

}  // namespace attnbench
