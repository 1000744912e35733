// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/common/upload.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/problem.h"

// What several GPU backends keep in a plan's memory for their kernels. Each adds its room, is told
// where the room begins and, for index arrays, is filled on the GPU for each step. A recorded
// plan's room is for any step within the problem's limits.
namespace attnbench {

/// Token slots of each request's keys, one request after another.
class TokenSlots {
 public:
  TokenSlots() = default;
  TokenSlots(const ForwardBatch& batch, DeviceRoom& room);
  void place(std::byte* memory);

  /// Enqueues the kernels that find them, on a cudaStream_t.
  void enqueue(const ForwardBatch& batch, void* stream) const;
  [[nodiscard]] const std::int32_t* kv_indices() const { return kv_indices_; }

 private:
  ArrayPlace<std::int32_t> kv_indptr_at_, kv_last_page_len_at_, kv_indices_at_;
  std::int32_t* kv_indptr_ = nullptr;
  std::int32_t* kv_last_page_len_ = nullptr;
  std::int32_t* kv_indices_ = nullptr;
};

/// Pages of each request, in a row of its own, those of its compressed rows behind those of its
/// tokens; entries behind them are `pad`.
class StepPageTable {
 public:
  StepPageTable() = default;
  StepPageTable(const ForwardBatch& batch, DeviceRoom& room, std::int32_t pad = -1);
  void place(std::byte* memory);

  /// Enqueues the kernel that finds them, on a cudaStream_t.
  void enqueue(const ForwardBatch& batch, void* stream) const;
  [[nodiscard]] const std::int32_t* pages() const { return pages_; }
  [[nodiscard]] std::int64_t width() const { return width_; }  ///< entries of a row

 private:
  ArrayPlace<std::int32_t> pages_at_;
  std::int32_t* pages_ = nullptr;
  std::int64_t width_ = 0;
  std::int32_t pad_ = -1;
};

/// Results of pieces that wait for a merge: for each row head_dim_v values and an LSE.
class PartialResults {
 public:
  PartialResults() = default;
  PartialResults(std::int64_t rows, int head_dim_v, DeviceRoom& room)
      : out_at_(room.add<float>(rows * head_dim_v)), lse_at_(room.add<float>(rows)) {}

  /// Tells a kernel's parameters; `memory` is where the plan's room begins.
  template <class Params>
  void set_in(Params& params, std::byte* memory) const {
    params.partial_out = out_at_.in(memory);
    params.partial_lse = lse_at_.in(memory);
  }

 private:
  ArrayPlace<float> out_at_, lse_at_;
};

}  // namespace attnbench
