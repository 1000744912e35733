// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attnbench {

/// req_to_token[row, t] = KV slot of logical token t (SGLang, memory_pool.py), then those of the
/// request's compressed rows, where the layer has any. Row 0 is for
/// padding, whose keys, where a kernel needs any, are slot 0. Entries of the other rows at and
/// beyond a request's keys are stale garbage by design: consumers bound by seq_lens.
class ReqToTokenPool {
 public:
  /// `size` request rows besides row 0; every entry of theirs starts as a large invalid slot.
  ReqToTokenPool(std::int64_t size, std::int64_t max_context_len);

  [[nodiscard]] std::span<std::int32_t> row(std::int64_t index);
  [[nodiscard]] std::span<const std::int32_t> row(std::int64_t index) const;
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t max_context_len() const { return max_context_len_; }

 private:
  std::int64_t rows_;
  std::int64_t max_context_len_;
  std::vector<std::int32_t> slots_;
};

/// What an unowned entry holds: far outside any pool, so that using it faults or reads poison
/// (FlashMLA's tests use the same figure).
inline constexpr std::int32_t kInvalidSlot = 2147480000;

}  // namespace attnbench
