// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/common/cuda/draft_tree.h"
#include "backends/splitkv/launch.h"
#include "backends/splitkv/plan.h"
#include "lib/backend/backend.h"

namespace attnbench::splitkv {

/// One launch of a splitkv kernel over a work list in GPU memory. Where it is recorded, the memory
/// and the grid have room for the most work that a step within the problem's limits can have.
class Planned final : public Plan {
 public:
  Planned(const ForwardBatch& batch, SplitRule rule, PlanMemory& memory);

  void run(Stream& stream) override;
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override;

 private:
  /// Lays `memory` out for `room` and for `keys` token slots of `requests` requests.
  void lay_out(const tiles::Room& room, std::int64_t requests, std::int64_t keys,
               PlanMemory& memory);
  /// Copies `plan` to where there is room for it, empty items behind it, and finds the slots.
  void enqueue(WorkPlan plan, const ForwardBatch& batch, void* stream);

  Problem problem_;
  SplitRule rule_;
  int multiprocessors_;
  Kernel kernel_;
  Params params_;
  // Where the rest lies, in device memory.
  std::byte* counters_ = nullptr;  ///< items follow
  std::int64_t num_counters_ = 0;
  std::int32_t* kv_indptr_ = nullptr;
  std::int32_t* kv_last_page_len_ = nullptr;
  std::int32_t* kv_indices_ = nullptr;
  GraphDraftTree graph_tree_;
};

}  // namespace attnbench::splitkv
