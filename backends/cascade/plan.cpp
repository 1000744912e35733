// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/plan.h"

#include <algorithm>
#include <utility>

#include "backends/common/tiles/key_shares.h"
#include "backends/common/tiles/pieces.h"
#include "backends/common/visibility.h"
#include "backends/splitkv/launch.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/index/request_tokens.h"

namespace attnbench::cascade {
namespace {

/// Keys that two requests share, of those that every new token of both sees.
std::int64_t shared_keys(const ForwardBatch& batch, std::int64_t a, std::int64_t b) {
  const std::int64_t most =
      std::min(batch.kv_len(a) - batch.q_len(a), batch.kv_len(b) - batch.q_len(b));
  if (most <= 0) return 0;
  const auto of_a = request_tokens(batch, a, 0, most);
  const auto of_b = request_tokens(batch, b, 0, most);
  std::size_t shared = 0, differs = of_a.size();
  while (shared < differs) {
    const std::size_t middle = shared + (differs - shared) / 2;
    if (of_a[middle] == of_b[middle]) {
      shared = middle + 1;
    } else {
      differs = middle;
    }
  }
  return static_cast<std::int64_t>(shared);
}

/// A tile over all its keys.
struct Tile {
  splitkv::Item item;
  std::size_t run = 0;
  std::int64_t run_row = 0;  ///< of its first row, among the rows of the run
};

/// `whole` in tiles of `tile_rows` of its `rows`. key_end(row): of a tile whose last row that is.
template <class KeyEnd>
void add_tiles(std::vector<Tile>& tiles, const Tile& whole, std::int64_t rows,
               std::int64_t tile_rows, const KeyEnd& key_end) {
  for (std::int64_t begin = 0; begin < rows; begin += tile_rows) {
    const std::int64_t end = std::min(rows, begin + tile_rows);
    Tile& tile = tiles.emplace_back(whole);
    tile.run_row += begin;
    tile.item.row_begin = narrow_i32(begin);
    tile.item.rows = narrow_i32(end - begin);
    tile.item.key_end = narrow_i32(key_end(end - 1));
  }
}

struct Passes {
  std::vector<Tile> prefix, suffix;
};

Passes tiles_of(const ForwardBatch& batch, const AttentionLayer& layer,
                const std::vector<SharedRun>& runs, std::int64_t prefix_rows,
                std::int64_t suffix_rows) {
  Passes passes;
  const std::int64_t group = layer.group_size();
  splitkv::Item request;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const SharedRun& run = runs[i];
    splitkv::Item all = request;  // the run as one request
    all.request = narrow_i32(run.begin);
    all.key_begin = 0;
    for (std::int64_t r = run.begin; r < run.end; ++r) {
      request.request = narrow_i32(r);
      request.kv_len = narrow_i32(batch.kv_len(r));
      request.q_len = narrow_i32(batch.q_len(r));
      request.key_begin = narrow_i32(run.length);
      const std::int64_t run_row = (request.q_begin - all.q_begin) * group;
      add_tiles(passes.suffix, {request, i, run_row}, request.q_len * group, suffix_rows,
                [&](std::int64_t row) { return visibility_of(batch, layer, r, row / group).end; });
      request.kv_begin = narrow_i32(std::int64_t{request.kv_begin} + request.kv_len);
      request.q_begin = narrow_i32(std::int64_t{request.q_begin} + request.q_len);
    }
    if (run.length == 0) continue;
    all.q_len = request.q_begin - all.q_begin;
    all.kv_len = narrow_i32(run.length + all.q_len);  // so that every token sees the prefix
    add_tiles(passes.prefix, {all, i, 0}, all.q_len * group, prefix_rows,
              [&](std::int64_t) { return run.length; });
  }
  return passes;
}

std::vector<splitkv::Item> items_of(const std::vector<Tile>& tiles) {
  std::vector<splitkv::Item> items;
  items.reserve(tiles.size());
  for (const Tile& tile : tiles) items.push_back(tile.item);
  return items;
}

}  // namespace

std::vector<SharedRun> shared_runs(const ForwardBatch& batch) {
  std::vector<SharedRun> runs;
  for (std::int64_t r = 0; r < batch.batch_size;) {
    SharedRun run{r, r + 1, 0};
    if (r + 1 < batch.batch_size) run.length = shared_keys(batch, r, r + 1);
    if (run.length > 0) {
      while (run.end < batch.batch_size && shared_keys(batch, r, run.end) == run.length) ++run.end;
    }
    runs.push_back(run);
    r = run.end;
  }
  return runs;
}

WorkPlan plan_work(const ForwardBatch& batch, const AttentionLayer& layer, int multiprocessors) {
  const std::vector<SharedRun> runs = shared_runs(batch);
  std::int64_t most_prefix = 0, most_suffix = 0;  // query tokens
  for (const SharedRun& run : runs) {
    std::int64_t tokens = 0;
    for (std::int64_t r = run.begin; r < run.end; ++r) {
      tokens += batch.q_len(r);
      most_suffix = std::max(most_suffix, batch.q_len(r));
    }
    if (run.length > 0) most_prefix = std::max(most_prefix, tokens);
  }
  splitkv::Planner prefix(most_prefix * layer.group_size() > splitkv::kFewRows);
  splitkv::Planner suffix(most_suffix * layer.group_size() > splitkv::kFewRows);
  Passes passes = tiles_of(batch, layer, runs, prefix.tile_rows(), suffix.tile_rows());
  if (suffix.tile_rows() > splitkv::kFewRows) {
    tiles::SmallTiles small(multiprocessors);
    for (const Tile& tile : passes.suffix) small.add(tile.item.rows, keys_of(tile.item));
    if (small.are_better(layer.heads_kv)) {
      passes = tiles_of(batch, layer, runs, prefix.tile_rows(), splitkv::kFewRows);
    }
  }

  std::vector<splitkv::Planner::Pieces> of_run(runs.size());  // of its first tile
  const tiles::EqualShares prefix_shares(keys_of(items_of(passes.prefix)) * layer.heads_kv,
                                         tiles::blocks_of(multiprocessors));
  for (const Tile& tile : passes.prefix) {
    // Tiles of a run have the same keys, so the same number of pieces each.
    const auto pieces = prefix.add_unmerged(tile.item, prefix_shares.chunk(keys_of(tile.item)));
    if (tile.run_row == 0) of_run[tile.run] = pieces;
  }
  WorkPlan plan;
  const std::vector<std::int64_t> chunks =
      splitkv::chunks_in_full_rounds(items_of(passes.suffix), layer.heads_kv, multiprocessors);
  for (std::size_t i = 0; i < passes.suffix.size(); ++i) {
    const Tile& tile = passes.suffix[i];
    const std::int64_t chunk = chunks[i];
    if (runs[tile.run].length == 0) {
      suffix.add(tile.item, chunk);
      continue;
    }
    const auto pieces = suffix.add_unmerged(tile.item, chunk);
    plan.tiles.push_back({tile.item.q_begin, tile.item.row_begin, tile.item.rows, pieces.first,
                          pieces.count, narrow_i32(tile.run_row), of_run[tile.run].first,
                          of_run[tile.run].count});
  }
  plan.prefix = std::move(prefix).finish();
  plan.suffix = std::move(suffix).finish();
  return plan;
}

}  // namespace attnbench::cascade
