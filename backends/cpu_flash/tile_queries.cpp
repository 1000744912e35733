// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/tile_queries.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/common/kv_convert.h"
#include "backends/common/visibility.h"
#include "lib/batch/forward_batch.h"

namespace attnbench::cpu_flash {
namespace {

/// Largest query element and largest scale for bf16 dot products, which take keys and sums below
/// 2^-126 for 0: what that leaves out of a logit then stays below 2^-50 for any size of a head.
constexpr int kLargestExponent = 32;

/// The item's rows of queries as stored, in one of their forms.
class QueryRows {
 public:
  QueryRows(const ForwardBatch& batch, const Item& item, int variant)
      : q_(batch.tensors.q),
        scales_(q_scale_array(batch)),
        variant_bytes_(variant * batch.problem->layer.head_dim_qk * size_bytes(q_.dtype)),
        item_(&item),
        group_(batch.problem->layer.group_size()),
        first_(first_token(batch, item.request)) {}

  [[nodiscard]] const std::byte* operator[](std::int64_t r) const {
    return q_.row(token(r), head(r)) + variant_bytes_;
  }
  /// As floats, times a scale that is not the whole tensor's.
  void widen(std::int64_t r, float* to, std::int64_t n) const {
    widen_row(q_.dtype, (*this)[r], to, n);
    if (scales_.scales == nullptr) return;
    const float scale = scales_.of(item_->request, token(r), head(r));
    for (std::int64_t d = 0; d < n; ++d) to[d] *= scale;
  }

 private:
  [[nodiscard]] std::int64_t token(std::int64_t r) const {
    return first_ + (item_->row_begin + r) / group_;
  }
  [[nodiscard]] int head(std::int64_t r) const {
    return item_->kv_head * static_cast<int>(group_) +
           static_cast<int>((item_->row_begin + r) % group_);
  }

  ConstTensorView q_;
  QScaleArray scales_;
  std::int64_t variant_bytes_;
  const Item* item_;
  std::int64_t group_, first_;
};

/// Whether every element is 0 or a normal number of at most 2^32: a smaller one would count as 0
/// and a larger one would make much of a key that counts as 0.
bool normal_and_moderate(const std::byte* row, std::int64_t n) {
  bool all = true;
  for (std::int64_t d = 0; d < n; ++d) {
    std::uint16_t bits;
    std::memcpy(&bits, row + d * std::int64_t{sizeof bits}, sizeof bits);
    const int magnitude = bits & 0x7fff, exponent = magnitude >> 7;
    all &= magnitude == 0 || (exponent >= 1 && exponent < 127 + kLargestExponent);
  }
  return all;
}

bool fits_bf16_dots(const ForwardBatch& batch, const Item& item, const QueryRows& rows) {
  const KvPool& pool = *batch.token_to_kv_pool;
  const std::int64_t dk = batch.problem->layer.head_dim_qk;
  if (batch.tensors.q.dtype != DType::kBF16 || pool.dtype != DType::kBF16) return false;
  if (dk % (item.rows() > kDirectRows ? 2 : 32) != 0) return false;
  // Queries in bf16 and a cache in bf16 have no scales but the cache's own.
  if (std::abs(batch.problem->layer.scale * pool.k_scale) > std::ldexp(1.0, kLargestExponent))
    return false;
  for (std::int64_t r = 0; r < item.rows(); ++r) {
    if (!normal_and_moderate(rows[r], dk)) return false;
  }
  return true;
}

/// [dk / c, group, c] with c = 32 / group, for each group of rows.
void load_chunks(const QueryRows& rows, std::int64_t count, std::int64_t dk, std::byte* to) {
  constexpr std::int64_t kRegister = 64;
  for (std::int64_t r = 0; r < count;) {
    const std::int64_t group = count - r >= 4 ? 4 : count - r >= 2 ? 2 : 1;
    const std::int64_t part = kRegister / group;
    for (std::int64_t byte = 0; byte < dk * 2; byte += part) {
      for (std::int64_t i = 0; i < group; ++i, to += part) {
        std::memcpy(to, rows[r + i] + byte, static_cast<std::size_t>(part));
      }
    }
    r += group;
  }
}

/// n cells of 4 bytes, a float or a pair of bf16, to the lane of row r in panels
/// [panels, height, lanes].
void load_lane(const void* cells, std::int64_t n, std::int64_t r, std::int64_t height,
               std::int64_t lanes, float* panels) {
  float* to = panels + r / lanes * lanes * height + r % lanes;
  const auto* from = static_cast<const std::byte*>(cells);
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * lanes, from + i * 4, 4);
}

}  // namespace

QueryLayout load_queries(const ForwardBatch& batch, const Item& item, int variant,
                         const Kernels& kernels, const Geometry& g, const Scratch& s) {
  const QueryRows rows(batch, item, variant);
  const std::int64_t count = item.rows();
  const bool few = count <= kDirectRows;
  const bool bf16 = kernels.bf16_dots && fits_bf16_dots(batch, item, rows);
  if (few && bf16) {
    load_chunks(rows, count, g.dk, reinterpret_cast<std::byte*>(s.q));
    return QueryLayout::kBf16Chunks;
  }
  if (few) {
    std::fill_n(s.q, count * g.padded_dk, 0.0f);
    for (std::int64_t r = 0; r < count; ++r) rows.widen(r, s.q + r * g.padded_dk, g.dk);
    return QueryLayout::kRows;
  }
  if (bf16) {
    const std::int64_t pairs = g.dk / 2;
    std::fill_n(s.q + (g.padded_rows - g.lanes) * pairs, g.lanes * pairs, 0.0f);
    for (std::int64_t r = 0; r < count; ++r) load_lane(rows[r], pairs, r, pairs, g.lanes, s.q);
    return QueryLayout::kBf16Panels;
  }
  // Lanes and columns that no query fills.
  const std::int64_t last = (g.padded_rows - g.lanes) * g.padded_dk;
  std::fill(s.q + (g.dk == g.padded_dk ? last : 0), s.q + g.padded_rows * g.padded_dk, 0.0f);
  for (std::int64_t r = 0; r < count; ++r) {
    // A panel's row is widened where converted keys will lie, which is not in use yet.
    rows.widen(r, s.k, g.dk);
    load_lane(s.k, g.dk, r, g.padded_dk, g.lanes, s.q);
  }
  return QueryLayout::kPanels;
}

}  // namespace attnbench::cpu_flash
