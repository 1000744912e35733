// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace attnbench::indexer {

/// Of one request: groups of query tokens, and tiles of keys, as many together as a block takes at
/// once.
struct RequestTiles {
  std::int64_t groups, tiles;
};

/// Tiles of each block so that no round of blocks is nearly empty: of the numbers that fill one to
/// four rounds of `slots` blocks, the one that takes least. 1 where there are no tiles.
[[nodiscard]] std::int64_t tiles_of_a_block(std::span<const RequestTiles> requests,
                                            std::int64_t slots);

}  // namespace attnbench::indexer
