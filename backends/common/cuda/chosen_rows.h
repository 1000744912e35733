// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/common/cuda/step_arrays.h"
#include "backends/common/tiles/params.h"
#include "backends/common/upload.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/kv_pool.h"

namespace attnbench {

/// What leads from a key to the number under which a kernel finds its row.
struct RowNumbers {
  std::int64_t per_page = 0;
  std::int64_t per_token = 0;
};
/// Token slots.
[[nodiscard]] RowNumbers slot_numbers(const KvPool& pool);
/// Where a row of K begins, in units of kRowUnit bytes. Throws InternalError where 31 bits do not
/// count as many.
inline constexpr std::int64_t kRowUnit = 16;
[[nodiscard]] RowNumbers unit_numbers(const KvPool& pool);

/// A query token of a step.
struct alignas(16) ListToken {
  std::int32_t request = -1;   ///< -1: padding, which has no keys
  std::int32_t place = 0;      ///< among the keys of its request, of which it sees none behind
  std::int32_t first_row = 0;  ///< where compressed rows begin in the pages of its request
};

/// Keys that a query gathers as rows of the cache, side by side: what a kernel reads in place of a
/// request's rows. They are those that its list names or, where there are compressed rows, those of
/// its window and then these rows, all or the list's. Each layer has other lists, so that they are
/// a launch of every run, before the kernel.
class ChosenRows {
 public:
  ChosenRows() = default;
  /// For a layer that gathers keys.
  ChosenRows(const ForwardBatch& batch, RowNumbers numbers, DeviceRoom& room);
  void place(std::byte* memory);

  /// Brings the step's tokens, its block table and, to a recorded plan, the lengths of lists and
  /// the lists themselves, unless they stay where they are (DeviceBatch::lists_stay).
  void enqueue(const ForwardBatch& batch, void* stream);
  /// Finds the rows.
  void launch(void* stream) const;

  /// [lists, width()], as far as a list has keys.
  [[nodiscard]] const std::int32_t* rows() const { return rows_; }
  [[nodiscard]] std::int64_t width() const { return width_; }
  /// Tells a kernel's parameters all but where it looks for rows.
  void set_in(tiles::Params& params) const;

 private:
  RowNumbers numbers_;
  Selection selection_;
  std::int64_t compress_ratio_ = 0;
  std::int64_t window_ = 0;  ///< beside compressed rows: a token's latest keys, its own among them
  std::int64_t groups_ = 1;  ///< lists of a token
  std::int64_t tokens_ = 0;
  std::int64_t page_size_ = 1;
  std::int64_t width_ = 0;
  bool recorded_ = false, copies_lists_ = false;

  ArrayPlace<ListToken> tokens_at_;
  ArrayPlace<std::int32_t> rows_at_, lengths_at_, indices_at_, topk_length_at_;
  StepPageTable block_table_;
  ListToken* list_tokens_ = nullptr;
  std::int32_t *rows_ = nullptr, *lengths_ = nullptr;
  std::int32_t *own_indices_ = nullptr, *own_topk_length_ = nullptr;  ///< of a recorded plan
  const std::int32_t *indices_ = nullptr, *topk_length_ = nullptr;
};

}  // namespace attnbench
