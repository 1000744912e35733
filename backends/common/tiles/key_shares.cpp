// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/tiles/key_shares.h"

#include <algorithm>

#include "lib/base/int_math.h"

namespace attnbench::tiles {
namespace {

constexpr std::int64_t kBlocksPerMultiprocessor = 2;
/// Up to this many keys for each block, reading keys for four tiles of 16 rows takes no longer than
/// one tile of 64 takes to merge (H200: even at 1000).
constexpr std::int64_t kMostSmallTileKeys = 768;

}  // namespace

std::int64_t blocks_of(int multiprocessors) {
  return std::max(1, multiprocessors) * kBlocksPerMultiprocessor;
}

void SmallTiles::add(std::int64_t rows, std::int64_t keys) {
  const std::int64_t tiles = ceil_div(rows, kSmallTileRows);
  tiles_ += tiles;
  keys_ += tiles * keys;
}

bool SmallTiles::are_better(int heads_kv) const {
  return tiles_ <= most_tiles(heads_kv, multiprocessors_) &&
         keys_ * heads_kv <= kMostSmallTileKeys * blocks_of(multiprocessors_);
}

std::int64_t SmallTiles::most_tiles(int heads_kv, int multiprocessors) {
  return blocks_of(multiprocessors) / heads_kv;
}

EqualShares::EqualShares(std::int64_t keys, std::int64_t blocks)
    : EqualShares(keys, blocks, Grain{}) {}

EqualShares::EqualShares(std::int64_t keys, std::int64_t blocks, const Grain& grain)
    : share_(std::max(grain.least, ceil_div(keys, blocks))), step_(grain.step) {}

std::int64_t EqualShares::chunk(std::int64_t keys) const {
  const std::int64_t pieces = std::max<std::int64_t>(1, (keys + share_ / 2) / share_);
  return std::max(step_, round_up(ceil_div(keys, pieces), step_));
}

// A tile of x shares has max(1, floor(x + 1/2)) pieces or fewer, and all tiles have as many shares
// as there are blocks: pieces beyond the first are fewer than x, and where there are two or more
// (x >= 3/2), all of them are at most 4/3 x.
std::int64_t EqualShares::most_partials(int multiprocessors) {
  return ceil_div(4 * blocks_of(multiprocessors), std::int64_t{3});
}

std::int64_t EqualShares::most_further_pieces(int multiprocessors) {
  return blocks_of(multiprocessors);
}

}  // namespace attnbench::tiles
