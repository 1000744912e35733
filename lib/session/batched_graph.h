// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/scenario/scenario.h"

namespace attnbench {

/// Below it a tenth or so of a GPU's figure is no work of the kernels: launching an empty one takes
/// 0.6 to 0.8 us on an H200, even behind the blocker, and the events step by 32 ns
/// (results/h200/timing.md).
inline constexpr double kShortUs = 10;

/// A graph of many forwards of a short step, whose launch and timer's step are then shared by all
/// of them.
struct BatchedGraph {
  std::int64_t forwards = 0;  ///< 0: there is no such graph
  std::int64_t sets = 0;      ///< of inputs that take turns; 1: the same each time
};

/// Cold: enough sets that 3 x the cache of other sets' data is read between two uses of one
/// (CUTLASS's profiler, gemm_operation_profiler.cu: 1 + 3 l2CacheSize / bytes), and no fewer
/// forwards than sets: else only the first ones are ever read, and the cache keeps them
/// (FlashInfer, issue 4468). Warm: all on one set. Serving: none, since a step writes its queries
/// and its plan before each forward, and that would be timed.
///
/// No graph, either, of a recurrent layer, whose states the forward before would have changed; nor
/// of a composed step, since no engine records a step of both forms.
[[nodiscard]] BatchedGraph batched_graph_for(const Case& c, CacheState cache, std::int64_t bytes,
                                             std::int64_t cache_bytes);

}  // namespace attnbench
