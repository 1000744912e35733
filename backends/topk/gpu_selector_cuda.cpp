// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "backends/topk/select.cuh"
#include "backends/topk/topk.h"

namespace attnbench::topk {
namespace {

class GpuPlan final : public Plan {
 public:
  explicit GpuPlan(const ForwardBatch& batch)
      : batch_(&batch), blocks_of_row_(blocks_of_row(*batch.index_scores)) {}

  void run(Stream& stream) override {
    const std::vector<IndexOutput>& to = batch_->index_outputs->arrays;
    enqueue_select(*batch_->index_scores, batch_->problem->layer.selection.topk, blocks_of_row_,
                   to[0].data, to[1].data, static_cast<cudaStream_t>(stream.native()));
  }
  /// Scores and lists stay where they are, and nothing else of a step is planned for.
  [[nodiscard]] bool update(const ForwardBatch&, Stream&) override {
    return batch_->problem->recorded;
  }

 private:
  const ForwardBatch* batch_;
  int blocks_of_row_;
};

}  // namespace

std::unique_ptr<Plan> GpuSelector::plan(const ForwardBatch& batch, PlanMemory&) {
  return std::make_unique<GpuPlan>(batch);
}

}  // namespace attnbench::topk
