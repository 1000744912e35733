// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/plan.h"

#include <algorithm>
#include <limits>

#include "backends/common/visibility.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/index/csr.h"

namespace attnbench {
namespace {

/// Keys of a piece are a multiple of this: what the warps of a block take in one round.
constexpr std::int64_t kRoundKeys = 64;
/// Below this a piece is more start and merge than work.
constexpr std::int64_t kLeastKeys = 256;
constexpr std::int64_t kBlocksPerMultiprocessor = 2;
/// No block is ever the last of so many: pieces stay partial, the merge kernel joins them.
constexpr std::int32_t kNeverMerged = std::numeric_limits<std::int32_t>::max();

std::int64_t common_slots(const ForwardBatch& batch, std::int64_t a, std::int64_t b) {
  const auto row = [&](std::int64_t r) {
    return batch.req_to_token_pool->row(batch.req_pool_indices[static_cast<std::size_t>(r)]);
  };
  // Every new token of both sees the whole of what they share.
  const std::int64_t most =
      std::min(batch.kv_len(a) - batch.q_len(a), batch.kv_len(b) - batch.q_len(b));
  const auto x = row(a), y = row(b);
  std::int64_t length = 0;
  while (length < most &&
         x[static_cast<std::size_t>(length)] == y[static_cast<std::size_t>(length)])
    ++length;
  return length;
}

/// A tile of rows before it is cut into pieces, and the rows of the plan that it stands for.
struct Tile {
  SplitKvItem item;
  std::int64_t first_token = 0;  ///< that row 0 of `item`'s request belongs to, in the batch
};

class Builder {
 public:
  Builder(const ForwardBatch& batch, const AttentionLayer& layer)
      : batch_(batch),
        layer_(layer),
        kv_indptr_(build_csr(batch, whole_spans(batch)).kv_indptr),
        q_indptr_(qo_indptr(batch)) {}

  /// Tiles over `rows` rows (token x head of the group) of tokens from `q_begin` on.
  void add_tiles(std::vector<Tile>& tiles, SplitKvItem item, std::int64_t rows,
                 std::int64_t tile_rows) const {
    for (std::int64_t begin = 0; begin < rows; begin += tile_rows) {
      item.row_begin = narrow_i32(begin);
      item.rows = narrow_i32(std::min(rows, begin + tile_rows) - begin);
      for (int head = 0; head < layer_.heads_kv; ++head) {
        item.kv_head = head;
        tiles.push_back({item, item.q_begin});
      }
    }
  }

  [[nodiscard]] std::vector<Tile> prefix_tiles(const std::vector<SharedRun>& runs,
                                               std::int64_t tile_rows) const {
    std::vector<Tile> tiles;
    for (const SharedRun& run : runs) {
      if (run.length == 0) continue;
      const std::int32_t q_begin = q_indptr_[static_cast<std::size_t>(run.begin)];
      const std::int32_t q_end = q_indptr_[static_cast<std::size_t>(run.end)];
      SplitKvItem item;
      item.request = narrow_i32(run.begin);
      item.kv_begin = kv_indptr_[static_cast<std::size_t>(run.begin)];
      item.q_begin = q_begin;
      item.q_len = q_end - q_begin;
      item.kv_len = narrow_i32(run.length + item.q_len);  // so that every token sees the prefix
      item.key_end = narrow_i32(run.length);
      add_tiles(tiles, item, std::int64_t{item.q_len} * layer_.group_size(), tile_rows);
    }
    return tiles;
  }

  [[nodiscard]] std::vector<Tile> suffix_tiles(const std::vector<SharedRun>& runs,
                                               std::int64_t tile_rows) const {
    std::vector<Tile> tiles;
    for (const SharedRun& run : runs) {
      for (std::int64_t r = run.begin; r < run.end; ++r) {
        SplitKvItem item;
        item.request = narrow_i32(r);
        item.kv_begin = kv_indptr_[static_cast<std::size_t>(r)];
        item.kv_len = narrow_i32(batch_.kv_len(r));
        item.q_begin = q_indptr_[static_cast<std::size_t>(r)];
        item.q_len = narrow_i32(batch_.q_len(r));
        item.key_begin = narrow_i32(run.length);
        const std::size_t first = tiles.size();
        add_tiles(tiles, item, std::int64_t{item.q_len} * layer_.group_size(), tile_rows);
        for (std::size_t i = first; i < tiles.size(); ++i) {
          SplitKvItem& tile = tiles[i].item;
          const std::int64_t last = (tile.row_begin + tile.rows - 1) / layer_.group_size();
          tile.key_end = narrow_i32(visibility_of(batch_, layer_, r, last).end);
        }
      }
    }
    return tiles;
  }

  /// Cuts tiles into pieces of about equal work that fill the GPU; returns the number of pieces.
  std::int64_t cut(const std::vector<Tile>& tiles, int multiprocessors, std::int64_t tile_rows,
                   std::int64_t first_row, PartialRows CascadeRow::*part,
                   std::vector<SplitKvItem>& items, std::vector<CascadeRow>& rows) const {
    std::int64_t total = 0, partials = 0;
    for (const Tile& tile : tiles) total += tile.item.key_end - tile.item.key_begin;
    const std::int64_t blocks = std::max(1, multiprocessors) * kBlocksPerMultiprocessor;
    const std::int64_t share = std::max(kLeastKeys, ceil_div(total, blocks));
    for (const Tile& tile : tiles) {
      const std::int64_t keys = std::max(0, tile.item.key_end - tile.item.key_begin);
      const std::int64_t wanted = std::max<std::int64_t>(1, (keys + share / 2) / share);
      const std::int64_t chunk = std::max(kRoundKeys, round_up(ceil_div(keys, wanted), kRoundKeys));
      const std::int64_t pieces = std::max<std::int64_t>(1, ceil_div(keys, chunk));
      SplitKvItem item = tile.item;
      item.splits = kNeverMerged;
      item.first_partial = narrow_i32(partials);
      for (std::int64_t piece = 0; piece < pieces; ++piece) {
        item.key_begin = narrow_i32(tile.item.key_begin + piece * chunk);
        item.key_end =
            narrow_i32(std::min<std::int64_t>(tile.item.key_end, item.key_begin + chunk));
        item.partial = narrow_i32(partials++);
        items.push_back(item);
      }
      for (std::int64_t row = 0; row < item.rows; ++row) {
        const std::int64_t place = item.row_begin + row, group = layer_.group_size();
        const std::int64_t t = tile.first_token + place / group;
        const std::int64_t head = item.kv_head * group + place % group;
        rows[static_cast<std::size_t>(t * layer_.heads_q + head)].*
            part = {narrow_i32(first_row + item.first_partial * tile_rows + row),
                    narrow_i32(tile_rows), narrow_i32(pieces)};
      }
    }
    std::ranges::stable_sort(items, std::ranges::greater{},
                             [](const SplitKvItem& item) { return item.key_end - item.key_begin; });
    return partials;
  }

 private:
  const ForwardBatch& batch_;
  const AttentionLayer& layer_;
  std::vector<std::int32_t> kv_indptr_, q_indptr_;
};

}  // namespace

std::vector<SharedRun> shared_runs(const ForwardBatch& batch) {
  std::vector<SharedRun> runs;
  for (std::int64_t r = 0; r < batch.batch_size;) {
    SharedRun run{r, r + 1, 0};
    if (r + 1 < batch.batch_size) run.length = common_slots(batch, r, r + 1);
    if (run.length > 0) {
      while (run.end < batch.batch_size && common_slots(batch, r, run.end) == run.length) ++run.end;
    }
    runs.push_back(run);
    r = run.end;
  }
  return runs;
}

CascadePlan plan_cascade(const ForwardBatch& batch, const AttentionLayer& layer,
                         int multiprocessors) {
  CascadePlan plan;
  const std::vector<SharedRun> runs = shared_runs(batch);
  const Builder builder(batch, layer);
  std::int64_t most_prefix = 0, most_suffix = 0;
  for (const SharedRun& run : runs) {
    std::int64_t tokens = 0;
    for (std::int64_t r = run.begin; r < run.end; ++r) {
      tokens += batch.q_len(r);
      most_suffix = std::max(most_suffix, batch.q_len(r) * layer.group_size());
    }
    if (run.length > 0) most_prefix = std::max(most_prefix, tokens * layer.group_size());
  }
  plan.many_prefix_rows = most_prefix > 16;
  plan.many_suffix_rows = most_suffix > 16;
  plan.rows.resize(static_cast<std::size_t>(batch.q_tokens() * layer.heads_q));
  plan.prefix_partials =
      builder.cut(builder.prefix_tiles(runs, plan.prefix_rows()), multiprocessors,
                  plan.prefix_rows(), 0, &CascadeRow::prefix, plan.prefix_items, plan.rows);
  plan.suffix_partials = builder.cut(
      builder.suffix_tiles(runs, plan.suffix_rows()), multiprocessors, plan.suffix_rows(),
      plan.prefix_partials * plan.prefix_rows(), &CascadeRow::suffix, plan.suffix_items, plan.rows);
  return plan;
}

}  // namespace attnbench
