// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "lib/backend/support.h"
#include "lib/batch/problem.h"

namespace attnbench {

/// What a problem can have beside plain causal attention over keys and values.
enum class Feature : std::uint8_t {
  kRecurrent,       ///< a state per request instead of keys and values
  kLatent,          ///< one row serves as key and as value
  kCrossAttention,  ///< keys of an encoder
  kNotCausal,       ///< self-attention in which queries see later keys
  kDraftTrees,      ///< drafts that branch
  kItems,           ///< multi-item scoring
  kSpans,           ///< bidirectional spans inside a causal prompt
  kBlocks,          ///< block diffusion
  kSelection,       ///< keys that another kernel chose for each query
  kListsOfHeads,    ///< chosen keys of each query head
  kHierarchy,       ///< chosen keys beside a window, or weighed by units
  kCompressed,      ///< compressed rows beside a window
  kWindow,          ///< a sliding window
  kChunks,          ///< chunked local attention
  kDualChunks,
  kTemperature,
  kSoftcap,
  kSinks,
  kLatentSinks,  ///< sinks beside latent rows, which are kSinks, too
  kAlibi,
  kEmptyRows,    ///< queries that see no key
  kPrefixAlone,  ///< a pass over only the keys before the step's own
  kSwaPool,      ///< a window's own pool, in whose tables unreachable keys are 0
  kPageGaps,     ///< pages that lie farther apart than their rows
};

/// A set of them.
class Features {
 public:
  constexpr Features(std::initializer_list<Feature> features) {
    for (const Feature feature : features) bits_ |= bit(feature);
  }
  [[nodiscard]] constexpr bool has(Feature feature) const { return (bits_ & bit(feature)) != 0; }
  [[nodiscard]] friend constexpr Features operator|(Features a, Features b) {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  static constexpr std::uint32_t bit(Feature feature) {
    return std::uint32_t{1} << static_cast<unsigned>(feature);
  }
  std::uint32_t bits_ = 0;
};

/// Refuses a problem that has a feature which a backend does not name, "no ALiBi: `because`". Each
/// backend asks this first, so that a new feature is refused until a backend names it. fp8
/// activations, queries that come apart and writes of the cache are BackendInfo's.
[[nodiscard]] Support unsupported_by_default(const Problem& problem, Features named,
                                             std::string_view because = {});

}  // namespace attnbench
