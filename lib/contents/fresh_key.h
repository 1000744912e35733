// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/base/counter_hash.h"
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

}  // namespace attnbench
