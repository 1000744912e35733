// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "backends/common/visibility.h"
#include "backends/cpu_flash/exp.h"

namespace attnbench {

/// State of the rows of one item, eight rows to a vector; arrays are padded to whole vectors.
struct SoftmaxRows {
  float* highest = nullptr;           ///< largest logit so far / ln 2, -inf before the first
  float* sum = nullptr;               ///< of 2^(logit / ln 2 - highest)
  float* correction = nullptr;        ///< 2^(old highest - new highest) of the last tile
  float* slope = nullptr;             ///< ALiBi
  std::int32_t* position = nullptr;   ///< of the query among the keys
  std::int32_t* key_begin = nullptr;  ///< keys visible to the row
  std::int32_t* key_end = nullptr;
  std::int32_t* plain_end = nullptr;  ///< from key_begin to here nothing is hidden
  Visibility* tree = nullptr;         ///< read when the rule says tree
};

struct LogitRule {
  float scale = 1;
  float cap = 0;  ///< 0 = off
  bool alibi = false;
  bool keys_ahead = false;  ///< a row sees keys behind its own position in the text
  bool tree = false;
};

/// scale * q.k, then cap, then ALiBi, then the range mask: eight rows, keys [first, first + keys).
ATTNBENCH_INLINE void logits_of_rows(float* scores, std::int64_t ld, std::int64_t keys,
                                     std::int32_t first, const SoftmaxRows& rows, std::int64_t r,
                                     const LogitRule& rule) {
  using simd::f32x8;
  using simd::i32x8;
  i32x8 begin, end, position;
  std::memcpy(&begin, rows.key_begin + r, sizeof begin);
  std::memcpy(&end, rows.key_end + r, sizeof end);
  std::memcpy(&position, rows.position + r, sizeof position);
  const f32x8 slope = simd::load8(rows.slope + r);
  const f32x8 hidden = simd::splat(-std::numeric_limits<float>::infinity());
  const float inverse_cap = rule.cap > 0 ? 1.0f / rule.cap : 0.0f;
  for (std::int64_t j = 0; j < keys; ++j) {
    const std::int32_t key = first + static_cast<std::int32_t>(j);
    f32x8 s = simd::load8(scores + j * ld + r) * rule.scale;
    if (rule.cap > 0) s = tanh8(s * inverse_cap) * rule.cap;
    if (rule.alibi) {
      // Of -|distance|; a draft tree's keys may have a larger index, which apply_tree() mends.
      f32x8 distance = __builtin_convertvector(key - position, f32x8);
      if (rule.keys_ahead) distance = simd::select(distance > 0.0f, -distance, distance);
      s += slope * distance;
    }
    simd::store8(scores + j * ld + r, simd::select((begin <= key) & (end > key), s, hidden));
  }
}

/// Hides what a draft tree hides, and moves ALiBi from the index of a node to its position.
inline void apply_tree(float* scores, std::int64_t ld, std::int64_t keys, std::int64_t first,
                       const Visibility& seen, float slope, std::int64_t row) {
  for (std::int64_t j = 0; j < keys; ++j) {
    float& score = scores[j * ld + row];
    if (seen.tree_hides(first + j)) {
      score = -std::numeric_limits<float>::infinity();
    } else {
      score += slope * static_cast<float>(seen.key_position(first + j) - (first + j));
    }
  }
}

/// Whether the logits of eight rows are scale * q.k and nothing else: no mask cuts into the keys.
[[nodiscard]] ATTNBENCH_INLINE bool scale_is_all(std::int64_t keys, std::int32_t first,
                                                 const SoftmaxRows& rows, std::int64_t r,
                                                 const LogitRule& rule) {
  bool all = rule.cap <= 0 && !rule.alibi && rule.scale > 0;
  for (std::int64_t lane = r; lane < r + simd::kLanes; ++lane) {
    all &= rows.key_begin[lane] <= first && rows.plain_end[lane] - first >= keys;
  }
  return all;
}

/// Turns scores[keys, ld] into weights relative to the new maximum and updates the row state.
inline void online_softmax(float* scores, std::int64_t ld, std::int64_t n_rows, std::int64_t keys,
                           std::int32_t first, const SoftmaxRows& rows, const LogitRule& rule) {
  using simd::f32x8;
  for (std::int64_t r = 0; r < n_rows; r += simd::kLanes) {
    constexpr float kLog2E = 1.44269504088896341f;
    float scale = rule.scale * kLog2E;  // that the scores still need
    if (!scale_is_all(keys, first, rows, r, rule)) {
      logits_of_rows(scores, ld, keys, first, rows, r, rule);
      for (std::int64_t row = r; rule.tree && row < n_rows && row < r + simd::kLanes; ++row) {
        apply_tree(scores, ld, keys, first, rows.tree[row], rows.slope[row], row);
      }
      scale = kLog2E;
    }
    f32x8 top = simd::load8(scores + r);
    for (std::int64_t j = 1; j < keys; ++j) {
      top = simd::max(simd::load8(scores + j * ld + r), top);
    }
    const f32x8 old_highest = simd::load8(rows.highest + r);
    const f32x8 highest = simd::max(top * scale, old_highest);
    // A row that has seen nothing yet must not compute -inf minus -inf.
    const f32x8 reference =
        simd::select(highest == -std::numeric_limits<float>::infinity(), f32x8{}, highest);
    const f32x8 correction = exp2_8(old_highest - reference);
    f32x8 sum = simd::load8(rows.sum + r) * correction;
    for (std::int64_t j = 0; j < keys; ++j) {
      const f32x8 weight = exp2_8(simd::load8(scores + j * ld + r) * scale - reference);
      sum += weight;
      simd::store8(scores + j * ld + r, weight);
    }
    simd::store8(rows.highest + r, highest);
    simd::store8(rows.sum + r, sum);
    simd::store8(rows.correction + r, correction);
  }
}

}  // namespace attnbench
