// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"

// Which pages of the cache a timed sample rewrites, and how: some signs of their keys and values
// change. That leaves scales and the distribution of the numbers as they are, is the same bits in
// every format, and is undone by doing it again. constexpr, as content_rows.h is.
namespace attnbench {

/// Pages of one stream of keys; `first` counts pages of the stream's positions.
struct PageRun {
  std::uint64_t stream = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// One page in so many is rewritten, and one of a shorter run.
inline constexpr std::int64_t kRewrittenShare = 32;

/// `seed` is the sample's own.
[[nodiscard]] constexpr bool is_rewritten(std::uint64_t seed, const PageRun& run,
                                          std::int64_t page) {
  const std::int64_t at = page - run.first, window = at / kRewrittenShare;
  const std::int64_t left = run.count - window * kRewrittenShare;
  const std::int64_t pages = left < kRewrittenShare ? left : kRewrittenShare;
  const std::uint64_t key =
      combine(combine(combine(seed, 0x9a6e5u), run.stream), static_cast<std::uint64_t>(window));
  return at % kRewrittenShare == static_cast<std::int64_t>(key % static_cast<std::uint64_t>(pages));
}

/// Of a row of a rewritten page: decides which of its elements are negated. V in an MLA cache is a
/// part of the K row.
[[nodiscard]] constexpr std::uint64_t sign_key(std::uint64_t seed, bool is_value,
                                               std::uint64_t stream, std::int64_t position,
                                               int head) {
  return row_key(combine(seed, 0x516e5u), is_value ? Role::kV : Role::kK, stream, position, head);
}
[[nodiscard]] constexpr bool is_negated(std::uint64_t key, std::uint32_t dim) {
  return (element_bits(key, dim / 32) >> (dim % 32) & 1u) != 0;
}

/// The stored element at `at`; memory is little-endian.
constexpr void negate(DType dtype, std::byte* at) { at[size_bytes(dtype) - 1] ^= std::byte{0x80}; }

}  // namespace attnbench
