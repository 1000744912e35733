// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/tile_task.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backends/common/visibility.h"
#include "backends/cpu_flash/gathered_keys.h"
#include "backends/cpu_flash/geometry.h"
#include "backends/cpu_flash/tile_queries.h"
#include "lib/base/int_math.h"

namespace attnbench::cpu_flash {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr float kLn2 = 0.693147180559945309f;

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

/// Divides by the sum, applies the scales of V and O and the sink, rounds once, writes O and LSE.
/// `highest` comes over ln 2, as the softmax keeps it.
void write_row(const ForwardBatch& batch, std::int64_t request, std::int64_t token, int head,
               const float* out, float highest, float sum) {
  const KvPool& pool = *batch.token_to_kv_pool;
  const AttentionLayer& layer = batch.problem->layer;
  const int kv_head = head / layer.group_size();
  const float v_scale = layer.shares_row_of_k_and_v()  // V is stored through K's scale
                            ? pool.shared_k_scale(request, kv_head)
                            : pool.shared_v_scale(request, kv_head);
  float factor = v_scale / batch.tensors.out_scale;
  highest *= kLn2;
  float lse = highest == kMinusInfinity ? kMinusInfinity : highest + std::log(sum);
  if (layer.has_sinks) {
    const float sink = batch.tensors.sinks[head];
    const float top = std::max(highest, sink);
    const float keys = highest == kMinusInfinity ? 0.0f : std::exp(highest - top);
    const float total = sum * keys + std::exp(sink - top);
    if (layer.sink_in_lse()) lse = top + std::log(total);
    factor *= keys / total;
  } else if (highest != kMinusInfinity) {
    factor /= sum;
  }
  std::memcpy(batch.tensors.lse.row(token, head), &lse, sizeof lse);
  std::byte* to = batch.tensors.out.row(token, head);
  store_row(batch.tensors.out.dtype, out, factor, batch.problem->layer.head_dim_v, to);
}

/// What a row of the item sees of the keys that the item reads: of a list all that is read.
Visibility visibility_in(const ForwardBatch& batch, const Item& item, std::int64_t token) {
  const AttentionLayer& layer = batch.problem->layer;
  if (!layer.gathers_keys()) return visibility_of(batch, layer, item.request, token);
  Visibility seen;
  seen.end = std::numeric_limits<std::int32_t>::max();
  return seen;
}

/// First key of the item's range, or its end, from which on the row's mask has to be looked at.
std::int64_t plain_end(const Visibility& seen, const Item& item) {
  if (seen.hidden_begin < seen.hidden_end) return std::min(seen.end, seen.hidden_begin);
  if (seen.mask == nullptr) return seen.end;
  const std::int64_t begin = std::max(item.key_begin, seen.begin);
  const std::int64_t end = std::min(item.key_end, seen.prefix);
  if (begin >= end) return begin;
  const void* hidden = std::memchr(seen.mask + begin, 0, static_cast<std::size_t>(end - begin));
  return hidden == nullptr ? end : static_cast<const std::uint8_t*>(hidden) - seen.mask;
}

void load_rows(const ForwardBatch& batch, const Item& item, const Geometry& g, const Scratch& s) {
  const AttentionLayer& layer = batch.problem->layer;
  const std::int64_t group = layer.group_size();
  const std::int64_t prefix = batch.kv_len(item.request) - batch.q_len(item.request);
  for (std::int64_t r = 0; r < g.padded_rows; ++r) {
    s.rows.highest[r] = kMinusInfinity;
    s.rows.sum[r] = 0;
    const bool real = r < item.rows();  // padding rows see everything: they never slow a tile down
    const std::int64_t row = item.row_begin + std::min(r, item.rows() - 1);
    const int head = item.kv_head * static_cast<int>(group) + static_cast<int>(row % group);
    const Visibility seen = visibility_in(batch, item, row / group);
    s.rows.temperature[r] = static_cast<float>(logit_temperature(layer, prefix + row / group));
    s.rows.slope[r] = layer.has_alibi ? static_cast<float>(alibi_slope(layer, head)) : 0.0f;
    s.rows.position[r] = static_cast<std::int32_t>(seen.position);
    s.rows.key_begin[r] = real ? static_cast<std::int32_t>(seen.begin) : 0;
    s.rows.key_end[r] =
        real ? static_cast<std::int32_t>(seen.end) : std::numeric_limits<std::int32_t>::max();
    s.rows.plain_end[r] =
        real ? static_cast<std::int32_t>(plain_end(seen, item)) : s.rows.key_end[r];
    std::construct_at(s.rows.seen + r, seen);
  }
  std::fill_n(s.out, item.rows() * g.out_stride, 0.0f);
}

/// Addresses of the rows of keys [begin, end), or of the gathered ones from keys[begin] to
/// keys[end]; the slack repeats the last key, which is owned.
void address_rows(const ForwardBatch& batch, const Item& item, const std::int32_t* keys,
                  std::int64_t begin, std::int64_t end, RowPointers& to) {
  const KvPool& pool = *batch.token_to_kv_pool;
  const auto slots =
      batch.req_to_token_pool->row(batch.req_pool_indices[static_cast<std::size_t>(item.request)]);
  to.keys = end - begin;
  for (std::int64_t j = 0; j < to.keys; ++j) {
    const std::int64_t key = keys != nullptr ? keys[begin + j] : begin + j;
    const auto slot = static_cast<std::uint32_t>(slots[to_size(key)]);
    const auto page_size = static_cast<std::uint32_t>(pool.page_size);  // 32 bits divide faster
    const std::int64_t page = slot / page_size, offset = slot % page_size;
    const std::int64_t size = size_bytes(pool.dtype);
    to.k[j] = pool.k + (page * pool.page_stride_k + offset * pool.token_stride_k +
                        item.kv_head * pool.head_stride_k) *
                           size;
    if (pool.blocks.exists()) {
      to.v[j] = pool.block_scale(slot, 0);
      continue;
    }
    to.v[j] = pool.v + (page * pool.page_stride_v + offset * pool.token_stride_v +
                        item.kv_head * pool.head_stride_v) *
                           size;
  }
  for (std::int64_t j = to.keys; to.keys > 0 && j < to.keys + kKeySlack; ++j) {
    to.k[j] = to.k[to.keys - 1];
  }
}

/// What a product of the item's queries, through scales other than the tensor's, and of stored keys
/// is multiplied with.
float logit_scale(const ForwardBatch& batch, const Item& item) {
  return static_cast<float>(batch.problem->layer.scale) * batch.tensors.q_scale *
         batch.token_to_kv_pool->shared_k_scale(item.request, item.kv_head);
}

/// The rows of the head that is `head` behind the first one of the tile.
void address_head(const KvPool& pool, const RowPointers& first, std::int64_t head,
                  RowPointers& to) {
  const std::int64_t size = size_bytes(pool.dtype);
  to.keys = first.keys;
  for (std::int64_t j = 0; j < first.keys + kKeySlack; ++j) {
    to.k[j] = first.k[j] + head * pool.head_stride_k * size;
  }
  for (std::int64_t j = 0; j < first.keys; ++j) {
    to.v[j] = first.v[j] + head * pool.head_stride_v * size;
  }
}

/// The head-th share of a tile's rows of all heads, in the order in which they lie in memory.
void address_share(const KvPool& pool, const RowPointers& first, std::int64_t head,
                   std::int64_t heads, RowPointers& to) {
  const std::int64_t size = size_bytes(pool.dtype);
  to.keys = first.keys;
  std::int64_t key = head * first.keys / heads, of_key = head * first.keys % heads;
  for (std::int64_t j = 0; j < first.keys; ++j) {
    to.k[j] = first.k[key] + of_key * pool.head_stride_k * size;
    to.v[j] = first.v[key] + of_key * pool.head_stride_v * size;
    if (++of_key == heads) ++key, of_key = 0;
  }
}

/// All heads of a tile before the next one: a token's rows are neighbours in memory.
void run_keys(const ForwardBatch& batch, const Item& item, const Kernels& kernels,
              std::span<const TileWork> heads) {
  const Scratch& s = heads[0].s;
  const KvPool& pool = *batch.token_to_kv_pool;
  const std::int64_t tile_keys = heads[0].g.tile_keys, stride = tile_keys + kKeySlack;
  const auto list = [&](std::int64_t i) {
    return RowPointers{s.row_pointers + 2 * i * stride, s.row_pointers + (2 * i + 1) * stride};
  };
  RowPointers tile = list(0), next = list(1), of_head = list(2), share = list(3);
  const auto end_of = [&](std::int64_t begin) {  // tiles end at multiples of their size
    return std::min(item.key_end, (begin / tile_keys + 1) * tile_keys);
  };
  std::int64_t begin = item.key_begin, end = end_of(begin);
  address_rows(batch, item, s.keys, begin, end, tile);
  while (begin < item.key_end) {
    const std::int64_t next_end = end_of(end);
    address_rows(batch, item, s.keys, end, next_end, next);
    if (heads.size() == 1) {
      kernels.run_tile(heads[0], tile, next, static_cast<std::int32_t>(begin));
    } else {
      for (std::int64_t head = 0; head < std::ssize(heads); ++head) {
        address_head(pool, tile, head, of_head);
        address_share(pool, next, head, std::ssize(heads), share);
        kernels.run_tile(heads[to_size(head)], of_head, share, static_cast<std::int32_t>(begin));
      }
    }
    std::swap(tile, next);
    begin = end;
    end = next_end;
  }
}

/// The item of one of its heads.
Item of_head(const Item& item, int head) {
  Item one = item;
  one.kv_head += head;
  one.kv_heads = 1;
  if (item.partial >= 0) one.partial += head * item.partial_step;
  return one;
}

/// What the tiles of an item's head have in common.
TileWork work_of(const ForwardBatch& batch, const Item& one, int variant, bool whole_rows,
                 const Kernels& kernels, const Geometry& g, const Scratch& s) {
  const AttentionLayer& layer = batch.problem->layer;
  const KvPool& pool = *batch.token_to_kv_pool;
  return {pool.dtype,
          layer.shares_row_of_k_and_v(),
          pool.blocks,
          whole_rows,
          load_queries(batch, one, variant, kernels, g, s),
          one.rows(),
          g,
          s,
          {logit_scale(batch, one), static_cast<float>(layer.logit_cap), layer.temperature_len > 0,
           layer.has_alibi, !layer.causal,
           s.rows.seen[0].mask != nullptr || batch.multi_item.has_value()}};
}

/// Adds what the rows have of some keys to the sums over units: through their own softmax and
/// `score`, or, of a window's keys, as they are.
void add_unit(const Item& item, const Geometry& g, const Scratch& s, std::optional<float> score) {
  for (std::int64_t r = 0; r < item.rows(); ++r) {
    const bool any = s.rows.highest[r] != kMinusInfinity;
    const float top = score ? *score / kLn2 : s.rows.highest[r];
    if (!any || top == kMinusInfinity) continue;
    const float highest = std::max(s.units.highest[r], top);
    const float kept = std::exp2(s.units.highest[r] - highest), added = std::exp2(top - highest);
    const float factor = score ? added / s.rows.sum[r] : added;
    s.units.highest[r] = highest;
    s.units.sum[r] = s.units.sum[r] * kept + (score ? added : s.rows.sum[r] * added);
    float* const to = s.units.out + r * g.out_stride;
    const float* const from = s.out + r * g.out_stride;
    for (std::int64_t d = 0; d < g.padded_dv; ++d) to[d] = to[d] * kept + from[d] * factor;
  }
}

void clear_rows(const Item& item, const Geometry& g, const Scratch& s) {
  std::fill_n(s.rows.highest, g.padded_rows, kMinusInfinity);
  std::fill_n(s.rows.sum, g.padded_rows, 0.0f);
  std::fill_n(s.out, item.rows() * g.out_stride, 0.0f);
}

/// The item's entries one after the other, then the window; rows are left as one softmax leaves
/// them.
void run_units(const ForwardBatch& batch, const Item& planned, const Kernels& kernels,
               const Geometry& g, const Scratch& s) {
  const AttentionLayer& layer = batch.problem->layer;
  const std::int64_t unit = layer.selection.unit, group = layer.group_size();
  const std::span<const float> scores =
      listed_scores(batch, first_token(batch, planned.request) + planned.row_begin / group,
                    list_of_row(layer, planned.row_begin, planned.kv_head));
  const TileWork work = work_of(batch, planned, 0, false, kernels, g, s);
  std::fill_n(s.units.highest, planned.rows(), kMinusInfinity);
  std::fill_n(s.units.sum, planned.rows(), 0.0f);
  std::fill_n(s.units.out, planned.rows() * g.out_stride, 0.0f);
  for (Item part = planned; part.key_begin < planned.key_end; part.key_begin = part.key_end) {
    const std::int64_t entry = part.key_begin / unit;
    const bool listed = entry < std::ssize(scores);
    part.key_end = listed ? (entry + 1) * unit : planned.key_end;
    Item keys = part;
    keys.key_end = load_gathered_keys(batch, part, s.keys);
    keys.key_begin = 0;
    if (keys.key_end == 0) continue;
    clear_rows(planned, g, s);
    run_keys(batch, keys, kernels, {&work, 1});
    add_unit(planned, g, s, listed ? std::optional(scores[to_size(entry)]) : std::nullopt);
  }
  std::copy_n(s.units.highest, planned.rows(), s.rows.highest);
  std::copy_n(s.units.sum, planned.rows(), s.rows.sum);
  std::copy_n(s.units.out, planned.rows() * g.out_stride, s.out);
}

void write_item(const ForwardBatch& batch, const Item& item, const Geometry& g, const Scratch& s,
                const Partials& partials) {
  if (item.partial >= 0) {
    std::copy_n(s.rows.highest, item.rows(), partials.highest + item.partial);
    std::copy_n(s.rows.sum, item.rows(), partials.sum + item.partial);
    return;
  }
  const std::int64_t group = batch.problem->layer.group_size();
  const std::int64_t first = first_token(batch, item.request);
  for (std::int64_t r = 0; r < item.rows(); ++r) {
    const std::int64_t row = item.row_begin + r;
    const int head = item.kv_head * static_cast<int>(group) + static_cast<int>(row % group);
    write_row(batch, item.request, first + row / group, head, s.out + r * g.out_stride,
              s.rows.highest[r], s.rows.sum[r]);
  }
}

}  // namespace

void run_item(const ForwardBatch& batch, const Item& planned, const Kernels& kernels,
              std::span<const Scratch> scratch, const Partials& partials) {
  const AttentionLayer& layer = batch.problem->layer;
  const bool weighs_units = layer.selection.weighs_units();
  Item item = planned;
  if (layer.gathers_keys() && !weighs_units) {
    item.key_end = load_gathered_keys(batch, planned, scratch[0].keys);
    item.key_begin = 0;
  }
  const Geometry g(layer, item.rows(), kernels.lanes);
  std::vector<Scratch> of(scratch.begin(), scratch.begin() + item.kv_heads);
  for (int head = 0; head < item.kv_heads; ++head) {
    Scratch& s = of[to_size(head)];
    const Item one = of_head(item, head);
    if (one.partial >= 0) s.out = partials.out + one.partial * g.out_stride;
    load_rows(batch, one, g, s);
  }
  if (weighs_units) {
    run_units(batch, item, kernels, g, of[0]);
    write_item(batch, item, g, of[0], partials);
    return;
  }
  const std::int64_t place =
      batch.kv_len(item.request) - batch.q_len(item.request) + item.row_begin / layer.group_size();
  std::vector<TileWork> work;
  for (const VariantKeys& part :
       variant_keys(layer.dual_chunk, place, item.key_begin, item.key_end)) {
    work.clear();
    for (int head = 0; head < item.kv_heads; ++head) {
      work.push_back(work_of(batch, of_head(item, head), part.variant, item.kv_heads > 1, kernels,
                             g, of[to_size(head)]));
    }
    Item keys = item;
    keys.key_begin = part.begin;
    keys.key_end = part.end;
    run_keys(batch, keys, kernels, work);
  }
  for (int head = 0; head < item.kv_heads; ++head) {
    write_item(batch, of_head(item, head), g, of[to_size(head)], partials);
  }
}

void merge_row(const ForwardBatch& batch, const Merge& merge, std::int64_t row,
               const Kernels& kernels, const Partials& partials, float* out) {
  const Geometry g(batch.problem->layer, 1, kernels.lanes);
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
  const std::int64_t group = batch.problem->layer.group_size();
  const std::int64_t flat = merge.row_begin + row;
  const int head = merge.kv_head * static_cast<int>(group) + static_cast<int>(flat % group);
  write_row(batch, merge.request, first_token(batch, merge.request) + flat / group, head, out,
            highest, sum);
}

}  // namespace attnbench::cpu_flash
