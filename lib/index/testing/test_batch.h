// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lib/base/narrow.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {

/// A batch for tests of index arrays, together with the pool that it points to.
class TestBatch {
 public:
  /// Request r owns slots[r], one per token, of which the last q_lens[r] are this step's; entries
  /// behind them keep their invalid slot.
  TestBatch(ForwardMode mode, const std::vector<std::vector<std::int32_t>>& slots,
            const std::vector<std::int32_t>& q_lens, std::int64_t max_context_len = 64)
      : pool_(static_cast<std::int64_t>(slots.size()), max_context_len) {
    batch.forward_mode = mode;
    batch.batch_size = static_cast<std::int64_t>(slots.size());
    batch.req_to_token_pool = &pool_;
    for (std::size_t r = 0; r < slots.size(); ++r) {
      // Rows in reverse: a consumer that takes r for the row reads another request.
      const auto row = batch.batch_size - static_cast<std::int64_t>(r);
      batch.req_pool_indices.push_back(narrow_i32(row));
      for (std::size_t t = 0; t < slots[r].size(); ++t) pool_.row(row)[t] = slots[r][t];
      const std::int32_t kv = narrow_i32(std::ssize(slots[r]));
      batch.seq_lens.push_back(kv);
      if (mode == ForwardMode::kDecode) continue;
      batch.extend_prefix_lens.push_back(kv - q_lens[r]);
      batch.extend_seq_lens.push_back(q_lens[r]);
    }
  }
  TestBatch(const TestBatch&) = delete;
  TestBatch& operator=(const TestBatch&) = delete;

  ForwardBatch batch;

 private:
  ReqToTokenPool pool_;
};

/// len slots on consecutive pages from `first_page` on.
[[nodiscard]] inline std::vector<std::int32_t> slots_from(std::int32_t first_page,
                                                          std::int32_t page_size,
                                                          std::int32_t len) {
  std::vector<std::int32_t> slots;
  for (std::int32_t t = 0; t < len; ++t) slots.push_back(first_page * page_size + t);
  return slots;
}

}  // namespace attnbench
