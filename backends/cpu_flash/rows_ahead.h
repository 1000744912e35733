// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace attnbench::cpu_flash {

/// Rows that are read soon, asked for while something else is computed. Pages lie anywhere, so the
/// processor's own prefetchers see no pattern to follow. A core keeps track of some two dozen
/// missing lines and stops at the next: kernels ask for few at a time, all along.
struct RowsAhead {
  static constexpr std::int64_t kLine = 64;

  const std::byte* const* rows = nullptr;
  std::int64_t count = 0;
  std::int64_t bytes = 0;  ///< of each

  /// Asks for bytes [from, bytes) of rows [begin, end), as far as there are any.
  [[gnu::always_inline]] void prefetch(std::int64_t begin, std::int64_t end,
                                       std::int64_t from = 0) const {
    for (std::int64_t j = begin; j < end && j < count; ++j) {
      for (std::int64_t b = from; b < bytes; b += kLine) __builtin_prefetch(rows[j] + b);
    }
  }

  /// Asks for the line that begins at `byte` of rows [begin, end), as far as there are any.
  [[gnu::always_inline]] void prefetch_line(std::int64_t begin, std::int64_t end,
                                            std::int64_t byte) const {
    if (byte % kLine != 0 || byte >= bytes) return;
    for (std::int64_t j = begin; j < end && j < count; ++j) __builtin_prefetch(rows[j] + byte);
  }

  /// Asks for shares [share, share + n) of the rows, of which there are `shares`.
  [[gnu::always_inline]] void prefetch_share(std::int64_t share, std::int64_t shares,
                                             std::int64_t n = 1) const {
    prefetch(count * share / shares, count * (share + n) / shares);
  }
};

}  // namespace attnbench::cpu_flash
