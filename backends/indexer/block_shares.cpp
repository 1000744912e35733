// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/indexer/block_shares.h"

#include <algorithm>
#include <limits>
#include <ranges>

#include "lib/base/int_math.h"

namespace attnbench::indexer {
namespace {

/// Behind four full rounds an empty one would be a fifth of the time.
constexpr std::int64_t kMostRounds = 4;
/// What a block loads before its keys, in tiles of each warpgroup: a token's queries are as many
/// bytes as a tile, and eight tokens share their block with four tiles at once.
constexpr std::int64_t kTilesOfAStart = 2;

std::int64_t blocks_of(std::span<const RequestTiles> requests, std::int64_t tiles) {
  std::int64_t blocks = 0;
  for (const RequestTiles& request : requests) {
    blocks += request.groups * ceil_div(request.tiles, tiles);
  }
  return blocks;
}

}  // namespace

std::int64_t tiles_of_a_block(std::span<const RequestTiles> requests, std::int64_t slots,
                              std::int64_t at_once) {
  std::int64_t most = at_once;
  for (const RequestTiles& request : requests) most = std::max(most, request.tiles);
  std::int64_t best = most, least = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t rounds = 1; rounds <= kMostRounds; ++rounds) {
    const auto sizes = std::views::iota(at_once, most);
    const auto fitting = std::ranges::partition_point(
        sizes, [&](std::int64_t tiles) { return blocks_of(requests, tiles) > rounds * slots; });
    const std::int64_t tiles = fitting == sizes.end() ? most : *fitting;
    const std::int64_t time =
        ceil_div(blocks_of(requests, tiles), slots) * (tiles + kTilesOfAStart * at_once);
    if (time >= least) continue;
    least = time;
    best = tiles;
  }
  return best;
}

}  // namespace attnbench::indexer
