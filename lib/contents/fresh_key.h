// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// The key and value of a request that a timed sample replaces.
struct FreshKey {
  std::int64_t position = -1;  ///< among the request's keys; -1: it has none of its own
  float size = 0;              ///< ContentParams::needle_size of it
};

/// About how much of the last query's weight a fresh key gets: where it is little, all other keys
/// show.
inline constexpr double kFreshKeyWeights[] = {0.5, 0.1, 0.02};

/// Out of what a request's fresh keys are drawn: its own keys (a shared prefix also belongs to
/// other requests) that its last query sees, and every query where the mask lets it.
struct FreshKeyChoice {
  std::int64_t first = 0, count = 0;  ///< positions
  float sizes[3] = {};                ///< per dim, as kFreshKeyWeights
  std::uint64_t nonce = 0;            ///< Case::sample_nonce
};

/// A result without the key is far off where its weight is large. The other keys' logits are normal
/// numbers of variance v, the sum of whose exponentials is about L exp(v / 2), or
/// exp(sqrt(2 v ln L)) where the largest one decides.
[[nodiscard]] FreshKeyChoice fresh_key_choice(const Case& c, const Request& request);

/// The largest that any request's fresh key has with so many keys.
[[nodiscard]] float largest_fresh_key_size(const Case& c, std::int64_t kv_len);

/// The draw of one sample; `seed` is its own, `stream` that of the request's queries.
[[nodiscard]] constexpr FreshKey fresh_key_of(const FreshKeyChoice& choice, std::uint64_t seed,
                                              std::uint64_t stream) {
  if (choice.count == 0) return {};
  const std::uint64_t bits = combine((seed ^ choice.nonce) + 0xf2e5u, stream);
  // The upper half times a count below 2^31, which needs no division: this runs between samples.
  return {choice.first + static_cast<std::int64_t>(
                             (bits >> 32) * static_cast<std::uint64_t>(choice.count) >> 32),
          choice.sizes[mix64(bits) % 3]};
}

// Which pages of the cache a timed sample rewrites, and how: some signs of their keys and values
// change. That leaves scales and the distribution of the numbers as they are, is the same bits in
// every format, and is undone by doing it again. constexpr, as content_rows.h is.

/// Pages of one stream of keys; `first` counts pages of the stream's positions.
struct PageRun {
  std::uint64_t stream = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// One page in so many is rewritten, and one of a shorter run.
inline constexpr std::int64_t kRewrittenShare = 32;

/// The window of a page, which is rewritten or another one of the window is.
[[nodiscard]] constexpr std::int64_t window_of(const PageRun& run, std::int64_t page) {
  return (page - run.first) / kRewrittenShare;
}

/// The rewritten page of a window; `seed` is the sample's own.
[[nodiscard]] constexpr std::int64_t rewritten_page(std::uint64_t seed, const PageRun& run,
                                                    std::int64_t window) {
  const std::int64_t left = run.count - window * kRewrittenShare;
  const std::int64_t pages = left < kRewrittenShare ? left : kRewrittenShare;
  const std::uint64_t key =
      combine(combine(seed + 0x9a6e5u, run.stream), static_cast<std::uint64_t>(window));
  return run.first + window * kRewrittenShare +
         static_cast<std::int64_t>((key >> 32) * static_cast<std::uint64_t>(pages) >> 32);
}
[[nodiscard]] constexpr bool is_rewritten(std::uint64_t seed, const PageRun& run,
                                          std::int64_t page) {
  return page == rewritten_page(seed, run, window_of(run, page));
}

/// Of a row of a rewritten page: decides which of its elements are negated. V in an MLA cache is a
/// part of the K row. A device does this between samples, so it takes few instructions: the odd
/// factors keep rows apart (golden ratio; those of MurmurHash3's finaliser).
[[nodiscard]] constexpr std::uint32_t sign_key(std::uint64_t seed, bool is_value,
                                               std::uint64_t stream, std::int64_t position,
                                               int head) {
  return static_cast<std::uint32_t>(combine(seed, stream) >> 32) +
         static_cast<std::uint32_t>(position) * 0x9e3779b9u +
         static_cast<std::uint32_t>(2 * head + (is_value ? 1 : 0)) * 0x85ebca6bu;
}
/// That of `tokens` positions on.
[[nodiscard]] constexpr std::uint32_t sign_key_behind(std::uint32_t key, int tokens) {
  return key + static_cast<std::uint32_t>(tokens) * 0x9e3779b9u;
}
/// One bit for each of 32 elements, the lowest that of `dim`, which 32 divides. The mixer is
/// Wellons' lowbias32, as in element_bits().
[[nodiscard]] constexpr std::uint32_t signs_of(std::uint32_t key, std::uint32_t dim) {
  std::uint32_t x = key + dim / 32 * 0xc2b2ae35u;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
[[nodiscard]] constexpr bool is_negated(std::uint32_t key, std::uint32_t dim) {
  return (signs_of(key, dim) >> (dim % 32) & 1u) != 0;
}

/// The stored element at `at`; memory is little-endian.
constexpr void negate(DType dtype, std::byte* at) { at[size_bytes(dtype) - 1] ^= std::byte{0x80}; }

}  // namespace attnbench
