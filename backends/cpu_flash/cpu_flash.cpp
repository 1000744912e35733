// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/cpu_flash.h"

#include <omp.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/common/kernel_support.h"
#include "backends/cpu_flash/flash_kernels.h"
#include "backends/cpu_flash/geometry.h"
#include "backends/cpu_flash/plan.h"
#include "backends/cpu_flash/tile_task.h"
#include "lib/backend/tuning.h"

namespace attnbench::cpu_flash {
namespace {

bool reads_whole_rows(const ForwardBatch& batch) {
  const KvPool& pool = *batch.token_to_kv_pool;
  return !batch.problem->layer.gathers_keys() && pool.head_stride_k < pool.token_stride_k;
}

class Planned final : public Plan {
 public:
  Planned(const ForwardBatch& batch, std::int64_t split_keys, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  const ForwardBatch* batch_;
  const Kernels* kernels_;  ///< of the device's instruction set
  WorkPlan plan_;
  Partials partials_;
  std::vector<std::vector<Scratch>> scratch_;  ///< by thread, then by head of an item
};

Planned::Planned(const ForwardBatch& batch, std::int64_t split_keys, PlanMemory& memory)
    : batch_(&batch),
      kernels_(&kernels_for(memory.device().info().cpu_target)),
      plan_(plan_work(batch, batch.problem->layer, split_keys,
                      reads_whole_rows(batch) ? omp_get_max_threads() : 0)) {
  const AttentionLayer& layer = batch.problem->layer;
  const auto threads = static_cast<std::size_t>(omp_get_max_threads());
  const std::size_t per_thread = scratch_bytes(plan_, layer, kernels_->lanes);
  const std::int64_t out_floats = Geometry(layer, plan_.max_rows, kernels_->lanes).out_stride;
  const auto partial_bytes =
      static_cast<std::size_t>(plan_.partial_rows * (out_floats + 2)) * sizeof(float);
  std::byte* const block = memory.reserve(threads * per_thread + partial_bytes);
  for (std::size_t t = 0; t < threads; ++t) {
    scratch_.push_back(scratch_at(block + t * per_thread, plan_, layer, kernels_->lanes));
  }
  auto* floats = reinterpret_cast<float*>(block + threads * per_thread);
  partials_.out = floats;
  partials_.highest = floats + plan_.partial_rows * out_floats;
  partials_.sum = partials_.highest + plan_.partial_rows;
}

void Planned::run(Stream&) {
  const auto items = static_cast<std::int64_t>(plan_.items.size());
  const auto merges = static_cast<std::int64_t>(plan_.merges.size());
  const int threads = static_cast<int>(scratch_.size());
#pragma omp parallel num_threads(threads) if (items > 1)
  {
    const std::span<const Scratch> scratch =
        scratch_[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(dynamic, 1) nowait
    for (std::int64_t i = 0; i < items; ++i) {
      run_item(*batch_, plan_.items[static_cast<std::size_t>(i)], *kernels_, scratch, partials_);
    }
    // Each barrier is a microsecond of a quiet machine, and a time slice of a busy one.
    if (merges > 0) {
#pragma omp barrier
#pragma omp for schedule(static) nowait
      for (std::int64_t i = 0; i < merges; ++i) {
        const Merge& merge = plan_.merges[static_cast<std::size_t>(i)];
        for (std::int64_t row = 0; row < merge.row_end - merge.row_begin; ++row) {
          merge_row(*batch_, merge, row, *kernels_, partials_, scratch[0].out);
        }
      }
    }
  }
}

}  // namespace

CpuFlashBackend::CpuFlashBackend(std::optional<std::int64_t> split_keys)
    : split_keys_(split_keys.value_or(kSplitKeys)) {
  info_.name = "cpu_flash";
  info_.version = "1";
  info_.description = "paged tiles, online softmax, split-KV; f32 arithmetic, all threads";
  info_.index_format = "req_to_token";
  info_.device = DeviceKind::kCpu;
  info_.reads_fp8_queries = info_.writes_fp8_outputs = true;
  info_.reads_lists_at_run = true;
  if (split_keys) info_ = tuned(std::move(info_), "split_keys", *split_keys);
}

std::vector<KvLayout> CpuFlashBackend::formats(const Problem& problem) const {
  if (are_of_blocks(problem.cache.scales)) return {KvLayout::kNhd};
  std::vector<KvLayout> layouts = layouts_of_whole_rows(with_tensor_scale(problem));
  if (!layouts.empty()) {
    layouts.push_back(KvLayout::kJoint);
    layouts.push_back(KvLayout::kJointHnd);
  }
  return layouts;
}

std::unique_ptr<Plan> CpuFlashBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  return std::make_unique<Planned>(batch, split_keys_, memory);
}

}  // namespace attnbench::cpu_flash
