// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace attnbench::mla {

/// A piece of a tile: steps [begin, end).
struct Piece {
  std::size_t tile = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The pieces of each part. Parts run side by side, on one multiprocessor (or several) each.
struct Schedule {
  std::vector<Piece> pieces;            ///< part after part
  std::vector<std::size_t> part_begin;  ///< [parts + 1]
  std::int64_t longest = 0;             ///< steps of the part with most to do, starts included
};

/// Shares tiles of `steps[i]` steps out to parts so that all end about together: whole tiles, the
/// longest first, each to a part that has least to do; or, where that ends sooner although pieces
/// have to be merged, equal parts in the order of the tiles, as FlashMLA's scheduler does
/// (get_mla_metadata). Costs are those of an H200.
[[nodiscard]] Schedule make_schedule(const std::vector<std::int64_t>& steps, std::size_t parts);

}  // namespace attnbench::mla
