// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/batch/device_batch.h"

namespace attnbench::gated_delta_net {

/// The most key dims of a state, whose columns are kept in registers.
inline constexpr int kMostKeyDims = 256;

/// What a token does to a state.
enum class Rule {
  kGatedDelta,  ///< a decay for each head, and the delta rule
  kKimiDelta,   ///< a decay for each key dim, and the delta rule
  kLinear,      ///< a decay for each head, and an outer product: lightning attention, Mamba-2
};

/// A step as the kernel sees it.
struct RecurrentParams {
  AttentionTensors io;
  StatePool states;
  /// target_verify: one for each query token, and `states` are read alone. Otherwise without data.
  StatePool intermediate;
  const std::int32_t* qo_indptr = nullptr;          ///< [requests + 1]
  const std::int32_t* state_indices = nullptr;      ///< [requests]; -1: padding
  const std::uint8_t* has_initial_state = nullptr;  ///< [requests]
  /// [query tokens] parents among the nodes of a request; null unless draft trees have branches.
  const std::int32_t* retrieve_parent_token = nullptr;
  std::int64_t requests = 0;
  /// How many requests keep the GPU busy until the end: query tokens over those of the longest one.
  std::int64_t busy_requests = 0;
  int group_size = 1;  ///< value heads of a key head
  float scale = 1;
};

/// Enqueues one kernel on a cudaStream_t: a warp per request, value head and 8 or 32 value dims.
/// backends/kernel_units.cmake compiles each rule in a unit of its own.
template <Rule kRule>
void launch_recurrent(const RecurrentParams& params, void* stream);

}  // namespace attnbench::gated_delta_net
