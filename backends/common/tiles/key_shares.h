// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Into how many blocks a step's work is cut, on GPUs whose multiprocessors hold two blocks each.
namespace attnbench::tiles {

/// Rows of the smallest tile.
inline constexpr std::int64_t kSmallTileRows = 16;

/// Blocks that a GPU holds at a time.
[[nodiscard]] std::int64_t blocks_of(int multiprocessors);

/// Whether requests of more than 16 rows should be cut into tiles of 16 nevertheless. Each tile
/// reads its keys anew, but where there is little to read, more blocks with less to merge are done
/// sooner.
class SmallTiles {
 public:
  explicit SmallTiles(int multiprocessors) : multiprocessors_(multiprocessors) {}

  /// A tile of `rows` rows, of which there may be more than 16, over `keys` keys.
  void add(std::int64_t rows, std::int64_t keys);
  [[nodiscard]] bool are_better(int heads_kv) const;

  /// The most tiles of one KV head with which they are.
  [[nodiscard]] static std::int64_t most_tiles(int heads_kv, int multiprocessors);

 private:
  int multiprocessors_;
  std::int64_t tiles_ = 0, keys_ = 0;
};

/// Pieces of about equal work, as many as there are blocks for.
class EqualShares {
 public:
  /// What a kernel makes of a piece's keys.
  struct Grain {
    std::int64_t least = 256;  ///< fewer are more start and merge than work
    std::int64_t step = 64;    ///< a piece has a multiple of what a block takes in one round
  };
  /// Of `keys` keys, all tiles of all heads, for `blocks` blocks.
  EqualShares(std::int64_t keys, std::int64_t blocks);
  EqualShares(std::int64_t keys, std::int64_t blocks, const Grain& grain);

  /// Keys of each piece of a tile that has `keys`.
  [[nodiscard]] std::int64_t chunk(std::int64_t keys) const;

  /// Whatever the work of a full GPU: pieces of those tiles that are cut, and how many more pieces
  /// than tiles.
  [[nodiscard]] static std::int64_t most_partials(int multiprocessors);
  [[nodiscard]] static std::int64_t most_further_pieces(int multiprocessors);

 private:
  std::int64_t share_;
  std::int64_t step_;
};

/// Tiles of one number of keys each, cut so that no round of blocks is nearly empty. As many pieces
/// as there are blocks for leave a round to a few of them where tiles and blocks do not match: of
/// 17 requests with 8 KV heads each half, 272 pieces, takes 264 blocks two rounds.
class EvenTiles {
 public:
  using Grain = EqualShares::Grain;
  /// `count` tiles of all heads, for `blocks` blocks.
  EvenTiles(std::int64_t count, std::int64_t blocks, const Grain& grain);

  /// Keys of each piece of a tile that has `keys`, the most of any.
  [[nodiscard]] std::int64_t chunk(std::int64_t keys) const;

  /// The most pieces of all tiles that are cut.
  [[nodiscard]] static std::int64_t most_pieces(int multiprocessors);

 private:
  std::int64_t count_;
  std::int64_t blocks_;
  Grain grain_;
};

}  // namespace attnbench::tiles
