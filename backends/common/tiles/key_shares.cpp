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
/// Rounds of blocks that even tiles are cut for at most.
constexpr std::int64_t kMostRounds = 8;
/// What a piece takes beyond its keys, in keys: to start, and to leave its result for the merge
/// (backends/paged_fa/README.md, "Batches between").
constexpr std::int64_t kPieceKeys = 256;

/// Keys that a block reads in turn, and what its pieces take beyond them: full pieces in rounds,
/// the tiles' last ones in what the last round leaves, and behind it.
std::int64_t time_of(std::int64_t tiles, std::int64_t keys, std::int64_t chunk,
                     std::int64_t blocks) {
  const std::int64_t full = tiles * (keys / chunk), rest = keys % chunk;
  const std::int64_t rounds = ceil_div(full, blocks);
  const std::int64_t time = rounds * (chunk + kPieceKeys);
  if (rest == 0) return time;
  const std::int64_t beside = (rounds * blocks - full) * (chunk + kPieceKeys) / (rest + kPieceKeys);
  const std::int64_t behind = std::max<std::int64_t>(0, tiles - beside);
  return time + ceil_div(behind, blocks) * (rest + kPieceKeys);
}

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

EvenTiles::EvenTiles(std::int64_t count, std::int64_t blocks, const Grain& grain)
    : count_(std::max<std::int64_t>(1, count)), blocks_(blocks), grain_(grain) {}

std::int64_t EvenTiles::chunk(std::int64_t keys) const {
  const std::int64_t equal = EqualShares(count_ * keys, blocks_, grain_).chunk(keys);
  std::int64_t best = equal;
  // Blocks of a round that is nearly empty read faster than those of a full one: a plan that saves
  // less than an eighth of the time has lost as often as it has won.
  std::int64_t limit = 7 * time_of(count_, keys, equal, blocks_) / 8;
  for (std::int64_t rounds = 1; rounds <= kMostRounds; ++rounds) {
    const std::int64_t pieces = std::max<std::int64_t>(1, rounds * blocks_ / count_);
    const std::int64_t chunk =
        round_up(std::max(grain_.least, ceil_div(keys, pieces)), grain_.step);
    const std::int64_t time = time_of(count_, keys, chunk, blocks_);
    if (time >= limit) continue;
    best = chunk;
    limit = time;
  }
  return best;
}

std::int64_t EvenTiles::most_pieces(int multiprocessors) {
  return kMostRounds * blocks_of(multiprocessors);
}

}  // namespace attnbench::tiles
