// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

// Compiled once for each instruction set, as vector-inl.h says.
#if defined(ATTNBENCH_BACKENDS_CPU_FLASH_ONLINE_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNBENCH_BACKENDS_CPU_FLASH_ONLINE_SOFTMAX_INL_H_
#undef ATTNBENCH_BACKENDS_CPU_FLASH_ONLINE_SOFTMAX_INL_H_
#else
#define ATTNBENCH_BACKENDS_CPU_FLASH_ONLINE_SOFTMAX_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "backends/cpu_flash/exp-inl.h"
#include "backends/cpu_flash/tile_work.h"

HWY_BEFORE_NAMESPACE();
namespace attnbench::cpu_flash::HWY_NAMESPACE {

// A vector holds kGroup rows of kLanes / kGroup neighbouring keys: few rows lie closely in
// scores[keys, kGroup], so that no lane is idle.

/// Loads kGroup elements as often as they fit into a vector.
template <int kGroup, class D>
[[nodiscard]] HWY_INLINE hn::Vec<D> load_group(D d, const hn::TFromD<D>* p) {
  if constexpr (kGroup == kLanes) {
    return hn::LoadU(d, p);
  } else if constexpr (kGroup == 1) {
    return hn::Set(d, *p);
  } else if constexpr (kGroup == 2) {
    std::uint64_t pair;
    std::memcpy(&pair, p, sizeof pair);
    return hn::BitCast(d, hn::Set(hn::RepartitionToWide<U32>(), pair));
  } else if constexpr (kGroup == 4) {
    return hn::LoadDup128(d, p);
  } else {
    const hn::Half<D> half;
    const auto v = hn::LoadU(half, p);
    return hn::Combine(d, v, v);
  }
}

/// Writes, for each of kGroup rows, what `fold` makes of its lanes.
template <int kGroup, class Fold>
HWY_INLINE void fold_groups(Floats v, float* to, Fold fold) {
  float lanes[std::size_t{kLanes}];
  store_floats(lanes, v);
  for (int row = 0; row < kGroup; ++row) {
    float folded = lanes[row];
    for (int lane = row + kGroup; lane < kLanes; lane += kGroup) folded = fold(folded, lanes[lane]);
    to[row] = folded;
  }
}

/// Where the vectors of a tile's scores lie.
struct ScoreVectors {
  float* first;
  std::int64_t stride;
  std::int64_t count;
};

/// scale * q.k, then cap, then temperature, then ALiBi, then the range mask: rows [r, r + kGroup),
/// keys [first, first + keys).
template <int kGroup>
void logits_of_rows(const ScoreVectors& scores, std::int32_t first, const SoftmaxRows& rows,
                    std::int64_t r, const LogitRule& rule) {
  constexpr int kKeys = static_cast<int>(kLanes / kGroup);
  constexpr int kLog2Group = std::countr_zero(static_cast<unsigned>(kGroup));
  const F32 f32;
  const I32 i32;
  const auto begin = load_group<kGroup>(i32, rows.key_begin + r);
  const auto end = load_group<kGroup>(i32, rows.key_end + r);
  const auto position = load_group<kGroup>(i32, rows.position + r);
  const Floats temperature = load_group<kGroup>(f32, rows.temperature + r);
  const Floats slope = load_group<kGroup>(f32, rows.slope + r);
  const Floats hidden = splat(-std::numeric_limits<float>::infinity());
  const float inverse_cap = rule.cap > 0 ? 1.0f / rule.cap : 0.0f;
  auto key = hn::Set(i32, first) + hn::ShiftRight<kLog2Group>(hn::Iota(i32, 0));
  for (std::int64_t v = 0; v < scores.count; ++v) {
    float* const at = scores.first + v * scores.stride;
    Floats s = load_floats(at) * splat(rule.scale);
    if (rule.cap > 0) s = tanh_floats(s * splat(inverse_cap)) * splat(rule.cap);
    if (rule.temperature) s = s * temperature;
    if (rule.alibi) {
      // Of -|distance|; a draft tree's keys may have a larger index, which hide_keys() mends.
      Floats distance = hn::ConvertTo(f32, key - position);
      if (rule.keys_ahead) distance = hn::Min(distance, hn::Neg(distance));
      s = hn::MulAdd(slope, distance, s);
    }
    const auto seen = hn::AndNot(hn::Lt(key, begin), hn::Lt(key, end));
    store_floats(at, hn::IfThenElse(hn::RebindMask(f32, seen), s, hidden));
    key = key + hn::Set(i32, kKeys);
  }
}

/// Hides what a draft tree or another item hides, and moves ALiBi from the index of a node to its
/// position.
inline void hide_keys(float* scores, std::int64_t ld, std::int64_t keys, std::int64_t first,
                      const Visibility& seen, float slope, std::int64_t row) {
  for (std::int64_t j = 0; j < keys; ++j) {
    float& score = scores[j * ld + row];
    if (seen.hides(first + j)) {
      score = -std::numeric_limits<float>::infinity();
    } else {
      score += slope * static_cast<float>(seen.key_position(first + j) - (first + j));
    }
  }
}

/// Whether the logits of rows [r, r + n) are scale * q.k and nothing else: no mask cuts into the
/// keys.
[[nodiscard]] inline bool scale_is_all(std::int64_t keys, std::int32_t first,
                                       const SoftmaxRows& rows, std::int64_t r, int n,
                                       const LogitRule& rule) {
  bool all = rule.cap <= 0 && !rule.temperature && !rule.alibi && rule.scale > 0;
  for (std::int64_t row = r; row < r + n; ++row) {
    all &= rows.key_begin[row] <= first && rows.plain_end[row] - first >= keys;
  }
  return all;
}

/// online_softmax of rows [r, r + kGroup); ld is kGroup where that is no whole vector.
template <int kGroup>
void softmax_of_rows(float* scores, std::int64_t ld, std::int64_t n_rows, std::int64_t keys,
                     std::int32_t first, const SoftmaxRows& rows, std::int64_t r,
                     const LogitRule& rule) {
  constexpr std::int64_t kKeys = kLanes / kGroup;
  const ScoreVectors vectors{scores + r, kGroup == kLanes ? ld : kLanes,
                             (keys + kKeys - 1) / kKeys};
  constexpr float kLog2E = 1.44269504088896341f;
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
  Floats scale = splat(rule.scale * kLog2E);  // that the scores still need
  if (!scale_is_all(keys, first, rows, r, kGroup, rule)) {
    logits_of_rows<kGroup>(vectors, first, rows, r, rule);
    for (std::int64_t row = r; rule.hides && row < n_rows && row < r + kGroup; ++row) {
      hide_keys(scores, ld, keys, first, rows.seen[row], rows.slope[row], row);
    }
    scale = splat(kLog2E);
  }
  if constexpr (kGroup < kLanes) {  // lanes beyond the last key
    std::fill(scores + keys * kGroup, scores + vectors.count * kLanes, kNothing);
  }
  Floats top = load_floats(vectors.first);
  for (std::int64_t v = 1; v < vectors.count; ++v) {
    top = hn::Max(load_floats(vectors.first + v * vectors.stride), top);
  }
  float folded[std::size_t{kGroup}];
  fold_groups<kGroup>(top, folded, [](float a, float b) { return b > a ? b : a; });
  const Floats old_highest = load_group<kGroup>(F32(), rows.highest + r);
  const Floats highest = hn::Max(load_group<kGroup>(F32(), folded) * scale, old_highest);
  // A row that has seen nothing yet must not compute -inf minus -inf.
  const Floats reference = hn::IfThenZeroElse(hn::Eq(highest, splat(kNothing)), highest);
  const Floats correction = exp2_floats(old_highest - reference);
  Floats sum = hn::Zero(F32());
  for (std::int64_t v = 0; v < vectors.count; ++v) {
    float* const at = vectors.first + v * vectors.stride;
    const Floats weight = exp2_floats(hn::MulSub(load_floats(at), scale, reference));
    sum = sum + weight;
    store_floats(at, weight);
  }
  const auto first_of = [](float a, float) { return a; };
  fold_groups<kGroup>(highest, rows.highest + r, first_of);
  fold_groups<kGroup>(correction, rows.correction + r, first_of);
  fold_groups<kGroup>(sum, folded, [](float a, float b) { return a + b; });
  for (int row = 0; row < kGroup; ++row) {
    rows.sum[r + row] = rows.sum[r + row] * rows.correction[r + row] + folded[row];
  }
}

/// Turns scores[keys, ld] into weights relative to the new maximum and updates the row state.
inline void online_softmax(float* scores, std::int64_t ld, std::int64_t n_rows, std::int64_t keys,
                           std::int32_t first, const SoftmaxRows& rows, const LogitRule& rule) {
  if constexpr (kLanes > 8) {
    if (ld == 8) return softmax_of_rows<8>(scores, ld, n_rows, keys, first, rows, 0, rule);
  }
  if constexpr (kLanes > 4) {
    if (ld == 4) return softmax_of_rows<4>(scores, ld, n_rows, keys, first, rows, 0, rule);
  }
  if (ld == 2) return softmax_of_rows<2>(scores, ld, n_rows, keys, first, rows, 0, rule);
  if (ld == 1) return softmax_of_rows<1>(scores, ld, n_rows, keys, first, rows, 0, rule);
  for (std::int64_t r = 0; r < n_rows; r += kLanes) {
    softmax_of_rows<kLanes>(scores, ld, n_rows, keys, first, rows, r, rule);
  }
}

}  // namespace attnbench::cpu_flash::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
