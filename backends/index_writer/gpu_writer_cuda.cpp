// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/index_writer/index_writer.h"
#include "backends/index_writer/write_keys.cuh"
#include "lib/batch/forward_batch.h"

namespace attnbench::index_writer {
namespace {

class GpuPlan final : public Plan {
 public:
  explicit GpuPlan(const ForwardBatch& batch) : batch_(&batch) {}

  void run(Stream& stream) override {
    enqueue_write(*batch_->index_write, static_cast<cudaStream_t>(stream.native()));
  }
  /// Keys and slots stay where they are, and nothing of a step is planned for.
  [[nodiscard]] bool update(const ForwardBatch&, Stream&) override {
    return batch_->problem->recorded;
  }

 private:
  const ForwardBatch* batch_;
};

}  // namespace

std::unique_ptr<Plan> GpuWriter::plan(const ForwardBatch& batch, PlanMemory&) {
  return std::make_unique<GpuPlan>(batch);
}

}  // namespace attnbench::index_writer
