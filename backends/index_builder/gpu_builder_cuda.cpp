// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "backends/index_builder/index_builder.h"
#include "lib/index/built_arrays.h"
#include "lib/index/cuda/index_builders.cuh"

namespace attnbench::index_builder {
namespace {

class GpuPlan final : public Plan {
 public:
  GpuPlan(const ForwardBatch& batch, PlanMemory& memory) : batch_(&batch) {
    if (batch.index_outputs->form != IndexForm::kCsr) return;
    // The kernel also counts the tokens of last pages, which are no output of the step.
    std::byte* const room =
        memory.reserve(static_cast<std::size_t>(batch.batch_size) * sizeof(std::int32_t));
    last_page_lens_ = static_cast<std::int32_t*>(static_cast<void*>(room));
  }

  void run(Stream& stream) override {
    const IndexOutputs& to = *batch_->index_outputs;
    const std::int64_t requests = batch_->batch_size;
    const std::int64_t page_size = batch_->problem->cache.page_size;
    auto* const native = static_cast<cudaStream_t>(stream.native());
    switch (to.form) {
      case IndexForm::kCsr:
        return enqueue_csr(device_batch_of(*batch_), requests, page_size,
                           {to.arrays[0].data, to.arrays[1].data, last_page_lens_}, native);
      case IndexForm::kPageTable:
        return enqueue_page_table(device_batch_of(*batch_), requests, page_size,
                                  to.arrays[0].shape[1], kUnbuilt, to.arrays[0].data, native);
    }
  }

 private:
  const ForwardBatch* batch_;
  std::int32_t* last_page_lens_ = nullptr;
};

}  // namespace

std::unique_ptr<Plan> GpuBuilder::plan(const ForwardBatch& batch, PlanMemory& memory) {
  return std::make_unique<GpuPlan>(batch, memory);
}

}  // namespace attnbench::index_builder
