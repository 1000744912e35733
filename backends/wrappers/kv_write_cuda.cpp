// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "backends/common/cuda/planning.h"
#include "backends/wrappers/kv_write.cuh"
#include "backends/wrappers/kv_write.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

class PlannedGpuWrite final : public StepPlan {
 public:
  PlannedGpuWrite(const ForwardBatch& batch, PlanMemory& memory) : StepPlan(batch) {
    params_.k_new = batch.tensors.k_new;
    params_.v_new = batch.tensors.v_new;
    params_.has_value_rows = !problem().layer.shares_row_of_k_and_v();
    params_.pool = *batch.token_to_kv_pool;
    params_.tokens = batch.q_tokens();
    params_.slots = device_batch_of(batch).out_cache_loc;
    if (params_.pool.scales == KvScales::kRequest) params_.requests = token_requests(batch);
    if (!problem().recorded) return;
    // The engine's array of the next step lies elsewhere; what is recorded reads this one.
    slots_ = memory.device().allocate(bytes(), "slots of a recorded KV write");
    enqueue_step(batch, nullptr);
    finish_planning();
    params_.slots = static_cast<const std::int64_t*>(static_cast<const void*>(slots_->data()));
  }

  void run(Stream& stream) override { launch_kv_write(params_, stream.native()); }

 private:
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(params_.tokens) * sizeof(std::int64_t);
  }
  void enqueue_step(const ForwardBatch& batch, void* stream) override {
    check_cuda(cudaMemcpyAsync(slots_->data(), device_batch_of(batch).out_cache_loc, bytes(),
                               cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)),
               "cudaMemcpyAsync");
  }

  KvWriteParams params_;
  std::unique_ptr<Buffer> slots_;
};

}  // namespace

std::unique_ptr<Plan> plan_kv_write_on_gpu(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<PlannedGpuWrite>(batch, memory);
}

}  // namespace attnbench
