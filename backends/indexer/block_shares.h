// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace attnbench::indexer {

/// One request's groups of query tokens, and its tiles of keys.
struct RequestTiles {
  std::int64_t groups, tiles;
};

/// Tiles of each block, which takes `at_once` of them at once, so that no round of blocks is nearly
/// empty: of the numbers that fill one to four rounds of `slots` blocks, the one that takes least.
/// `at_once` or more.
[[nodiscard]] std::int64_t tiles_of_a_block(std::span<const RequestTiles> requests,
                                            std::int64_t slots, std::int64_t at_once);

}  // namespace attnbench::indexer
