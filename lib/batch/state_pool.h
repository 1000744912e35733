// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench {

/// One recurrent layer's states as kernels address them: [slots, heads, K, V] f32, dense, V
/// contiguous, or, `v_first`, [slots, heads, V, K] (KvLayout). A step reads and rewrites the slots
/// of its requests in place, a target_verify reads them alone. Slot 0 is the dummy of padding; no
/// request owns it.
struct StatePool {
  float* data = nullptr;
  std::int64_t slots = 0;  ///< dummy included
  std::int64_t heads = 0;  ///< value heads
  std::int64_t dim_k = 0;
  std::int64_t dim_v = 0;
  bool v_first = false;

  /// Elements of one request's states.
  [[nodiscard]] constexpr std::int64_t slot_size() const { return heads * dim_k * dim_v; }
  /// Elements from a key dim to the next, and from a value dim.
  [[nodiscard]] constexpr std::int64_t stride_k() const { return v_first ? 1 : dim_v; }
  [[nodiscard]] constexpr std::int64_t stride_v() const { return v_first ? dim_k : 1; }
  /// The elements of one head.
  [[nodiscard]] constexpr float* state(std::int64_t slot, std::int64_t head) const {
    return data + slot * slot_size() + head * dim_k * dim_v;
  }
};

}  // namespace attnbench
