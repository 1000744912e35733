// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/plan.h"

#include <algorithm>
#include <utility>

#include "backends/common/tiles/items.h"
#include "backends/common/tiles/key_shares.h"
#include "backends/common/visibility.h"
#include "backends/splitkv/launch.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/index/csr.h"

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

/// Every set of neighbours that share more keys than any larger one, in any order; without parents.
/// shared[r]: what requests r and r + 1 share. These are the intervals of an array of longest
/// common prefixes (Abouelhoda, Kurtz and Ohlebusch, 2004).
std::vector<SharedKeys> intervals_of(const std::vector<std::int64_t>& shared) {
  std::vector<SharedKeys> closed, open;
  for (std::size_t r = 0; r <= shared.size(); ++r) {
    const std::int64_t keys = r < shared.size() ? shared[r] : 0;
    auto begin = static_cast<std::int64_t>(r);
    while (!open.empty() && open.back().key_end > keys) {
      begin = open.back().begin;
      open.back().end = static_cast<std::int64_t>(r) + 1;
      closed.push_back(open.back());
      open.pop_back();
    }
    if (keys > 0 && (open.empty() || open.back().key_end < keys))
      open.push_back({begin, 0, 0, keys});
  }
  return closed;
}

/// A tile over all its keys.
struct Tile {
  splitkv::Item item;
  int node = -1;  ///< whose keys these are; of a suffix the last one before
};

/// `whole` in tiles of `tile_rows` of its `rows`. key_end(row): of a tile whose last row that is.
template <class KeyEnd>
void add_tiles(std::vector<Tile>& tiles, const Tile& whole, std::int64_t rows,
               std::int64_t tile_rows, const KeyEnd& key_end) {
  for (std::int64_t begin = 0; begin < rows; begin += tile_rows) {
    const std::int64_t end = std::min(rows, begin + tile_rows);
    Tile& tile = tiles.emplace_back(whole);
    tile.item.row_begin = narrow_i32(begin);
    tile.item.rows = narrow_i32(end - begin);
    tile.item.key_end = narrow_i32(key_end(end - 1));
  }
}

/// Requests as splitkv's work items, without rows and keys.
std::vector<splitkv::Item> requests_of(const ForwardBatch& batch) {
  std::vector<splitkv::Item> requests(static_cast<std::size_t>(batch.batch_size));
  splitkv::Item request;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    request.request = narrow_i32(r);
    request.kv_len = narrow_i32(batch.kv_len(r));
    request.q_len = narrow_i32(batch.q_len(r));
    requests[static_cast<std::size_t>(r)] = request;
    request.kv_begin = narrow_i32(std::int64_t{request.kv_begin} + request.kv_len);
    request.q_begin = narrow_i32(std::int64_t{request.q_begin} + request.q_len);
  }
  return requests;
}

std::int64_t tokens_of(const SharedKeys& node, const std::vector<splitkv::Item>& requests) {
  const splitkv::Item& last = requests[static_cast<std::size_t>(node.end - 1)];
  return last.q_begin + last.q_len - requests[static_cast<std::size_t>(node.begin)].q_begin;
}

std::vector<Tile> prefix_tiles(const SharedTree& tree, const std::vector<splitkv::Item>& requests,
                               const AttentionLayer& layer, std::int64_t tile_rows) {
  std::vector<Tile> tiles;
  for (int n = 0; n < std::ssize(tree.nodes); ++n) {
    const SharedKeys& node = tree.nodes[static_cast<std::size_t>(n)];
    splitkv::Item all = requests[static_cast<std::size_t>(node.begin)];  // the node as one request
    all.q_len = narrow_i32(tokens_of(node, requests));
    all.kv_len = narrow_i32(node.key_end + all.q_len);  // so that every token sees its keys
    all.key_begin = narrow_i32(node.key_begin);
    add_tiles(tiles, {all, n}, all.q_len * layer.group_size(), tile_rows,
              [&](std::int64_t) { return node.key_end; });
  }
  return tiles;
}

std::vector<Tile> suffix_tiles(const ForwardBatch& batch, const SharedTree& tree,
                               const std::vector<splitkv::Item>& requests,
                               const AttentionLayer& layer, std::int64_t tile_rows) {
  std::vector<Tile> tiles;
  const std::int64_t group = layer.group_size();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    splitkv::Item request = requests[i];
    const auto r = static_cast<std::int64_t>(i);
    request.key_begin = narrow_i32(tree.suffix_begin(r));
    add_tiles(tiles, {request, tree.last[i]}, request.q_len * group, tile_rows,
              [&](std::int64_t row) { return visibility_of(batch, layer, r, row / group).end; });
  }
  return tiles;
}

std::vector<splitkv::Item> items_of(const std::vector<Tile>& tiles) {
  std::vector<splitkv::Item> items;
  items.reserve(tiles.size());
  for (const Tile& tile : tiles) items.push_back(tile.item);
  return items;
}

}  // namespace

std::int64_t SharedTree::suffix_begin(std::int64_t request) const {
  const int node = last[static_cast<std::size_t>(request)];
  return node < 0 ? 0 : nodes[static_cast<std::size_t>(node)].key_end;
}

SharedTree shared_tree(const ForwardBatch& batch) {
  std::vector<std::int64_t> shared;
  for (std::int64_t r = 0; r + 1 < batch.batch_size; ++r) {
    shared.push_back(shared_keys(batch, r, r + 1));
  }
  std::vector<SharedKeys> intervals = intervals_of(shared);
  std::ranges::sort(intervals, [](const SharedKeys& a, const SharedKeys& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;  // the larger one is the parent
  });
  SharedTree tree;
  tree.last.assign(static_cast<std::size_t>(batch.batch_size), -1);
  std::vector<int> open;  // nodes around the place that is reached, the outermost first
  for (SharedKeys& node : intervals) {
    while (!open.empty() && tree.nodes[static_cast<std::size_t>(open.back())].end <= node.begin) {
      open.pop_back();
    }
    if (std::ssize(open) == kMostLevels) continue;
    if (!open.empty()) {
      node.parent = open.back();
      node.key_begin = tree.nodes[static_cast<std::size_t>(node.parent)].key_end;
    }
    open.push_back(narrow_i32(std::ssize(tree.nodes)));
    std::fill(tree.last.begin() + node.begin, tree.last.begin() + node.end, open.back());
    tree.nodes.push_back(node);
  }
  return tree;
}

WorkPlan plan_work(const ForwardBatch& batch, const AttentionLayer& layer, int multiprocessors) {
  const SharedTree tree = shared_tree(batch);
  const std::vector<splitkv::Item> requests = requests_of(batch);
  std::int64_t most_prefix = 0, most_suffix = 0;  // query tokens
  for (const SharedKeys& node : tree.nodes) {
    most_prefix = std::max(most_prefix, tokens_of(node, requests));
  }
  for (const splitkv::Item& request : requests) {
    most_suffix = std::max<std::int64_t>(most_suffix, request.q_len);
  }
  splitkv::Planner prefix(most_prefix * layer.group_size() > splitkv::kFewRows);
  splitkv::Planner suffix(most_suffix * layer.group_size() > splitkv::kFewRows);
  const std::vector<Tile> of_nodes = prefix_tiles(tree, requests, layer, prefix.tile_rows());
  std::vector<Tile> of_requests = suffix_tiles(batch, tree, requests, layer, suffix.tile_rows());
  if (suffix.tile_rows() > splitkv::kFewRows) {
    tiles::SmallTiles small(multiprocessors);
    for (const Tile& tile : of_requests) small.add(tile.item.rows, keys_of(tile.item));
    if (small.are_better(layer.heads_kv)) {
      of_requests = suffix_tiles(batch, tree, requests, layer, splitkv::kFewRows);
    }
  }

  std::vector<splitkv::Planner::Pieces> of_first_tile(tree.nodes.size());
  const tiles::EqualShares prefix_shares(keys_of(items_of(of_nodes)) * layer.heads_kv,
                                         tiles::blocks_of(multiprocessors));
  for (const Tile& tile : of_nodes) {
    // Tiles of a node have the same keys, so the same number of pieces each.
    const auto pieces = prefix.add_unmerged(tile.item, prefix_shares.chunk(keys_of(tile.item)));
    if (tile.item.row_begin == 0) of_first_tile[static_cast<std::size_t>(tile.node)] = pieces;
  }
  WorkPlan plan;
  const std::vector<std::int64_t> chunks =
      splitkv::chunks_in_full_rounds(items_of(of_requests), layer.heads_kv, multiprocessors);
  for (std::size_t i = 0; i < of_requests.size(); ++i) {
    const splitkv::Item& item = of_requests[i].item;
    if (of_requests[i].node < 0) {
      suffix.add(item, chunks[i]);
      continue;
    }
    const auto pieces = suffix.add_unmerged(item, chunks[i]);
    MergeTile merge{item.q_begin, item.row_begin, item.rows, pieces.first, pieces.count};
    merge.levels_first = narrow_i32(std::ssize(plan.levels));
    for (int n = of_requests[i].node; n >= 0; n = tree.nodes[static_cast<std::size_t>(n)].parent) {
      const SharedKeys& node = tree.nodes[static_cast<std::size_t>(n)];
      const auto& first = of_first_tile[static_cast<std::size_t>(n)];
      const std::int64_t tokens_before =
          item.q_begin - requests[static_cast<std::size_t>(node.begin)].q_begin;
      plan.levels.push_back({narrow_i32(tokens_before * layer.group_size() + item.row_begin),
                             first.first, first.count});
      ++merge.levels_count;
    }
    plan.tiles.push_back(merge);
  }
  plan.prefix = std::move(prefix).finish();
  plan.suffix = std::move(suffix).finish();
  return plan;
}

}  // namespace attnbench::cascade
