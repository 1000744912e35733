// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/tile_task.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "backends/common/visibility.h"
#include "backends/cpu_flash/geometry.h"
#include "backends/cpu_flash/tile_kernels.h"

namespace attnbench {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr float kLn2 = 0.693147180559945309f;

/// Up to here a tile's rows read K and V where they are stored; above, a converted copy pays, and
/// so do queries in panels.
constexpr std::int64_t kDirectRows = 8;

struct RowPointers {
  const std::byte** k;
  const std::byte** v;
  std::int64_t keys = 0;
};

/// factor * from, rounded. One loop per type that is written often: each becomes vector code.
void store_row(DType dtype, const float* from, float factor, std::int64_t n, std::byte* to) {
  if (dtype == DType::kBF16) {
    for (std::int64_t d = 0; d < n; ++d) {
      const std::uint16_t bits = bf16_bits(from[d] * factor);
      std::memcpy(to + d * std::int64_t{sizeof bits}, &bits, sizeof bits);
    }
    return;
  }
  for (std::int64_t d = 0; d < n; ++d) store(dtype, to + d * size_bytes(dtype), from[d] * factor);
}

/// Divides by the sum, applies the scale of V and the sink, rounds once, writes O and LSE.
/// `highest` comes over ln 2, as the softmax keeps it.
void write_row(const AttentionIo& io, std::int64_t token, int head, const float* out, float highest,
               float sum) {
  const KvPool& pool = *io.batch->token_to_kv_pool;
  const bool mla = io.layer->kind == AttentionKind::kMlaAbsorbed;  // V is stored through K's scale
  float factor = mla ? pool.k_scale : pool.v_scale;
  highest *= kLn2;
  float lse = kMinusInfinity;
  if (io.layer->has_sinks) {
    const float sink = io.sinks[head];
    const float top = std::max(highest, sink);
    const float keys = highest == kMinusInfinity ? 0.0f : std::exp(highest - top);
    const float total = sum * keys + std::exp(sink - top);
    lse = top + std::log(total);
    factor *= keys / total;
  } else if (highest != kMinusInfinity) {
    lse = highest + std::log(sum);
    factor /= sum;
  }
  std::memcpy(io.lse.row(token, head), &lse, sizeof lse);
  std::byte* to = io.out.row(token, head);
  store_row(io.out.dtype, out, factor, io.layer->head_dim_v, to);
}

/// Widens the item's queries: row by row for the direct path, else in panels of eight rows,
/// [padded_dk, 8], the last one filled up with zeros.
void load_queries(const AttentionIo& io, const FlashItem& item, const FlashScratch& s) {
  const FlashGeometry g(*io.layer, item.rows());
  const std::int64_t group = io.layer->group_size(), first = first_token(*io.batch, item.request);
  const bool panels = item.rows() > kDirectRows;
  if (panels) {  // lanes and columns that no query fills
    const std::int64_t last = (g.padded_rows - simd::kLanes) * g.padded_dk;
    std::fill(s.q + (g.dk == g.padded_dk ? last : 0), s.q + g.padded_rows * g.padded_dk, 0.0f);
  } else {
    std::fill_n(s.q, item.rows() * g.padded_dk, 0.0f);
  }
  for (std::int64_t r = 0; r < item.rows(); ++r) {
    const std::int64_t row = item.row_begin + r;
    const int head = item.kv_head * static_cast<int>(group) + static_cast<int>(row % group);
    // A panel's row is widened where converted keys will lie, which is not in use yet.
    float* const q = panels ? s.k : s.q + r * g.padded_dk;
    widen_row(io.q.dtype, io.q.row(first + row / group, head), q, g.dk);
    if (!panels) continue;
    float* const panel = s.q + r / simd::kLanes * simd::kLanes * g.padded_dk + r % simd::kLanes;
    for (std::int64_t d = 0; d < g.dk; ++d) panel[d * simd::kLanes] = q[d];
  }
}

/// First key of the item's range, or its end, from which on the row's mask has to be looked at.
std::int64_t plain_end(const Visibility& seen, const FlashItem& item) {
  if (seen.mask == nullptr) return seen.end;
  const std::int64_t begin = std::max(item.key_begin, seen.begin);
  const std::int64_t end = std::min(item.key_end, seen.prefix);
  if (begin >= end) return begin;
  const void* hidden = std::memchr(seen.mask + begin, 0, static_cast<std::size_t>(end - begin));
  return hidden == nullptr ? end : static_cast<const std::uint8_t*>(hidden) - seen.mask;
}

void load_rows(const AttentionIo& io, const FlashItem& item, const FlashScratch& s) {
  const AttentionLayer& layer = *io.layer;
  const FlashGeometry g(layer, item.rows());
  const std::int64_t group = layer.group_size();
  for (std::int64_t r = 0; r < g.padded_rows; ++r) {
    s.rows.highest[r] = kMinusInfinity;
    s.rows.sum[r] = 0;
    const bool real = r < item.rows();  // padding rows see everything: they never slow a tile down
    const std::int64_t row = item.row_begin + std::min(r, item.rows() - 1);
    const int head = item.kv_head * static_cast<int>(group) + static_cast<int>(row % group);
    const Visibility seen = visibility_of(*io.batch, layer, item.request, row / group);
    s.rows.slope[r] = layer.has_alibi ? static_cast<float>(alibi_slope(layer, head)) : 0.0f;
    s.rows.position[r] = static_cast<std::int32_t>(seen.position);
    s.rows.key_begin[r] = real ? static_cast<std::int32_t>(seen.begin) : 0;
    s.rows.key_end[r] =
        real ? static_cast<std::int32_t>(seen.end) : std::numeric_limits<std::int32_t>::max();
    s.rows.plain_end[r] =
        real ? static_cast<std::int32_t>(plain_end(seen, item)) : s.rows.key_end[r];
    std::construct_at(s.rows.tree + r, seen);
  }
  load_queries(io, item, s);
  std::fill_n(s.out, item.rows() * g.out_stride, 0.0f);
}

/// Addresses of the rows of keys [begin, end); the slack repeats the last key, which is owned.
void address_rows(const AttentionIo& io, const FlashItem& item, std::int64_t begin,
                  std::int64_t end, RowPointers& to) {
  const KvPool& pool = *io.batch->token_to_kv_pool;
  const auto slots = io.batch->req_to_token_pool->row(
      io.batch->req_pool_indices[static_cast<std::size_t>(item.request)]);
  to.keys = end - begin;
  for (std::int64_t j = 0; j < to.keys; ++j) {
    const auto slot = static_cast<std::uint32_t>(slots[static_cast<std::size_t>(begin + j)]);
    const auto page_size = static_cast<std::uint32_t>(pool.page_size);  // 32 bits divide faster
    const std::int64_t page = slot / page_size, offset = slot % page_size;
    const std::int64_t size = size_bytes(pool.dtype);
    to.k[j] = pool.k + (page * pool.page_stride_k + offset * pool.token_stride_k +
                        item.kv_head * pool.head_stride_k) *
                           size;
    to.v[j] = pool.v + (page * pool.page_stride_v + offset * pool.token_stride_v +
                        item.kv_head * pool.head_stride_v) *
                           size;
  }
  for (std::int64_t j = to.keys; to.keys > 0 && j < to.keys + kKeySlack; ++j) {
    to.k[j] = to.k[to.keys - 1];
  }
}

template <DType dtype>
void convert_rows(const std::byte** rows, std::int64_t keys, std::int64_t dim, float* to) {
  const std::int64_t width = simd::padded(dim);
  for (std::int64_t j = 0; j < keys; ++j) {
    float* row = to + j * (width + kRowGap);
    widen_row<dtype>(rows[j], row, dim);
    std::fill(row + dim, row + width, 0.0f);
    rows[j] = reinterpret_cast<const std::byte*>(row);
  }
}

template <DType dtype>
void tile_products(const FlashItem& item, const FlashScratch& s, const FlashGeometry& g,
                   const RowPointers& tile, std::int32_t first, const LogitRule& rule,
                   const RowsAhead& during_scores, const RowsAhead& during_values) {
  const bool panels = dtype == DType::kF32 && item.rows() > kDirectRows;
  if (panels) {
    panel_scores(s.q, item.rows(), tile.k, tile.keys, g.padded_dk, s.scores, g.padded_rows,
                 during_scores);
  } else {
    tile_scores<dtype>(s.q, g.padded_dk, item.rows(), tile.k, tile.keys, g.padded_dk, s.scores,
                       g.padded_rows, during_scores);
  }
  online_softmax(s.scores, g.padded_rows, item.rows(), tile.keys, first, s.rows, rule);
  if (panels) {
    panel_values(s.scores, g.padded_rows, item.rows(), s.rows.correction, tile.v, tile.keys,
                 g.padded_dv, s.out, g.out_stride, during_values);
  } else {
    tile_values<dtype>(s.scores, g.padded_rows, item.rows(), s.rows.correction, tile.v, tile.keys,
                       g.padded_dv, s.out, g.out_stride, during_values);
  }
}

template <DType dtype>
void run_keys(const AttentionIo& io, const FlashItem& item, const FlashScratch& s) {
  const AttentionLayer& layer = *io.layer;
  const FlashGeometry g(layer, item.rows());
  const bool mla = layer.kind == AttentionKind::kMlaAbsorbed;
  const bool whole_vectors = g.dk == g.padded_dk && g.dv == g.padded_dv;
  const bool direct = whole_vectors && (dtype == DType::kF32 || item.rows() <= kDirectRows);
  const LogitRule rule{static_cast<float>(layer.scale) * io.batch->token_to_kv_pool->k_scale,
                       static_cast<float>(layer.logit_cap), layer.has_alibi, !layer.causal,
                       s.rows.tree[0].mask != nullptr};

  const std::int64_t stride = g.tile_keys + kKeySlack;
  RowPointers tile{s.row_pointers, s.row_pointers + stride};
  RowPointers next{s.row_pointers + 2 * stride, s.row_pointers + 3 * stride};
  const auto end_of = [&](std::int64_t begin) {  // tiles end at multiples of their size
    return std::min(item.key_end, (begin / g.tile_keys + 1) * g.tile_keys);
  };
  std::int64_t begin = item.key_begin, end = end_of(begin);
  address_rows(io, item, begin, end, tile);
  while (begin < item.key_end) {
    const std::int64_t next_end = end_of(end);
    address_rows(io, item, end, next_end, next);
    const RowsAhead next_k{next.k, next.keys, g.dk * size_bytes(dtype)};
    const std::int64_t v_bytes = mla ? 0 : g.dv * size_bytes(dtype);  // MLA: K's row is V's
    const auto first = static_cast<std::int32_t>(begin);
    if (direct) {
      const RowsAhead this_v{tile.v, tile.keys, v_bytes};
      tile_products<dtype>(item, s, g, tile, first, rule, this_v, next_k);
    } else {
      convert_rows<dtype>(tile.k, tile.keys, g.dk, s.k);
      for (std::int64_t j = 0; j < kKeySlack; ++j) tile.k[tile.keys + j] = tile.k[tile.keys - 1];
      if (mla) {
        std::copy_n(tile.k, tile.keys, tile.v);
      } else {
        convert_rows<dtype>(tile.v, tile.keys, g.dv, s.v);
      }
      const RowsAhead next_v{next.v, next.keys, v_bytes};
      tile_products<DType::kF32>(item, s, g, tile, first, rule, next_k, next_v);
    }
    std::swap(tile, next);
    begin = end;
    end = next_end;
  }
}

void run_keys(const AttentionIo& io, const FlashItem& item, const FlashScratch& s) {
  switch (io.batch->token_to_kv_pool->dtype) {
    case DType::kF32:
      return run_keys<DType::kF32>(io, item, s);
    case DType::kF16:
      return run_keys<DType::kF16>(io, item, s);
    case DType::kBF16:
      return run_keys<DType::kBF16>(io, item, s);
    case DType::kE4M3:
      return run_keys<DType::kE4M3>(io, item, s);
    case DType::kE5M2:
      return run_keys<DType::kE5M2>(io, item, s);
  }
}

}  // namespace

void run_item(const AttentionIo& io, const FlashItem& item, const FlashScratch& scratch,
              const FlashPartials& partials) {
  const FlashGeometry g(*io.layer, item.rows());
  FlashScratch s = scratch;
  if (item.partial >= 0) s.out = partials.out + item.partial * g.out_stride;
  load_rows(io, item, s);
  run_keys(io, item, s);
  if (item.partial >= 0) {
    std::copy_n(s.rows.highest, item.rows(), partials.highest + item.partial);
    std::copy_n(s.rows.sum, item.rows(), partials.sum + item.partial);
    return;
  }
  const std::int64_t group = io.layer->group_size(), first = first_token(*io.batch, item.request);
  for (std::int64_t r = 0; r < item.rows(); ++r) {
    const std::int64_t row = item.row_begin + r;
    const int head = item.kv_head * static_cast<int>(group) + static_cast<int>(row % group);
    write_row(io, first + row / group, head, s.out + r * g.out_stride, s.rows.highest[r],
              s.rows.sum[r]);
  }
}

void merge_row(const AttentionIo& io, const FlashMerge& merge, std::int64_t row,
               const FlashPartials& partials, float* out) {
  const FlashGeometry g(*io.layer, 1);
  const std::int64_t rows = merge.row_end - merge.row_begin;
  float highest = kMinusInfinity, sum = 0;
  for (std::int64_t split = 0; split < merge.splits; ++split) {
    highest = std::max(highest, partials.highest[merge.partial + split * rows + row]);
  }
  std::fill_n(out, g.padded_dv, 0.0f);
  for (std::int64_t split = 0; split < merge.splits; ++split) {
    const std::int64_t part = merge.partial + split * rows + row;
    if (partials.highest[part] == kMinusInfinity) continue;
    const float factor = std::exp2(partials.highest[part] - highest);
    sum += partials.sum[part] * factor;
    const float* from = partials.out + part * g.out_stride;
    for (std::int64_t d = 0; d < g.padded_dv; ++d) out[d] += from[d] * factor;
  }
  const std::int64_t group = io.layer->group_size();
  const std::int64_t flat = merge.row_begin + row;
  const int head = merge.kv_head * static_cast<int>(group) + static_cast<int>(flat % group);
  write_row(io, first_token(*io.batch, merge.request) + flat / group, head, out, highest, sum);
}

}  // namespace attnbench
