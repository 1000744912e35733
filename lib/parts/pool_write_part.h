// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/batch/index_write.h"
#include "lib/contents/pool_shape.h"
#include "lib/layout/lay_out.h"
#include "lib/parts/part_arrays.h"
#include "lib/scenario/case.h"

namespace attnbench {

// A step that writes_index() of pools (PoolWrite): keys and gates, and the ring in which those wait
// that a later step needs.

/// The new tokens of a request, by their positions.
struct NewPoolKeys {
  PoolShape shape;
  std::int64_t first = 0, end = 0;
  /// Keys from here on wait: a later step makes a row of them. Of a draft that may be of any pool
  /// that is still open once its first token is accepted. Keys that are rows of their own do not
  /// wait.
  std::int64_t first_waiting = 0;

  [[nodiscard]] bool closes(std::int64_t position) const {
    return position % shape.keys == shape.keys - 1;
  }
  [[nodiscard]] bool waits(std::int64_t position) const { return position >= first_waiting; }
  [[nodiscard]] std::int64_t closed_pools() const { return end / shape.keys - first / shape.keys; }
  /// The first member of a pool's row; before key 0: it is not there.
  [[nodiscard]] std::int64_t first_member(std::int64_t pool) const {
    return (pool - (shape.overlaps ? 1 : 0)) * shape.keys;
  }
  /// Keys that wait since an earlier step, for the pool of the first new one.
  [[nodiscard]] std::int64_t waiting() const {
    return first - std::max<std::int64_t>(first_member(first / shape.keys), 0);
  }
};
[[nodiscard]] NewPoolKeys new_pool_keys(const Case& c, const Request& request);

/// The row of the ring where a request's token waits. The pool that is open before the step, and
/// one that it overlaps, have blocks of their own, so that no new token meets them.
[[nodiscard]] std::int64_t ring_row(const Case& c, std::int64_t request, std::int64_t position);

/// index_gates, index_ape, index_ring, index_ring_rows and index_waiting, as PoolWrite has them.
/// Gates of padding, and rows of the ring where nothing waits, are NaN.
[[nodiscard]] std::vector<PartInput> pool_write_inputs(const Case& c);
inline constexpr std::size_t kPoolWriteInputs = 5;
[[nodiscard]] std::int64_t pool_write_input_bytes(const Case& c);
/// `memory` is that of these inputs.
[[nodiscard]] PoolWrite pool_write_at(std::span<std::byte* const> memory);

/// How the ring's row of a request's token differs from its key and gate. Empty: not at all.
[[nodiscard]] std::string fault_of_ring_row(const Contents& contents, std::int64_t request,
                                            std::int64_t position,
                                            std::span<const std::byte> bytes);

}  // namespace attnbench
