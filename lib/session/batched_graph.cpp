// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/batched_graph.h"

#include <algorithm>

namespace attnbench {
namespace {

/// A launch and an event's step are then less than 0.05 us of a forward.
constexpr std::int64_t kFewestForwards = 20;
constexpr std::int64_t kCachesBetween = 3;

}  // namespace

BatchedGraph batched_graph_for(const Case& c, CacheState cache, std::int64_t bytes,
                               std::int64_t cache_bytes) {
  if (c.layer.is_recurrent() || !c.parts.empty()) return {};
  if (bytes <= 0 || cache == CacheState::kServing) return {};
  if (cache == CacheState::kWarm) return {kFewestForwards, 1};
  const std::int64_t sets = (kCachesBetween * cache_bytes + bytes - 1) / bytes + 1;
  return {std::max(kFewestForwards, sets), sets};
}

}  // namespace attnbench
