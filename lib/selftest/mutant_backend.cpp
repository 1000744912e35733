// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/selftest/mutant_backend.h"

#include <stdexcept>

#include "lib/batch/graph_padding.h"
#include "lib/selftest/delta_net_mutant.h"
#include "lib/selftest/mutant_row.h"

namespace attnbench {
namespace {

// Of what lies in a plan's memory, behind the count of runs; aligned.
constexpr std::size_t kStepOffset = 256;
constexpr std::size_t kSumsOffset = 256 + (sizeof(MutantStep) + 255) / 256 * 256;

void run_on_host(const MutantStep& step) {
  if (step.fault == Fault::kThrows) throw std::runtime_error("no kernel for this");
  for (std::int64_t row = 0; row < step.rows(); ++row) MutantRow(step, row).run();
}

class PlannedMutant final : public Plan {
 public:
  PlannedMutant(Fault fault, DeviceKind device, const ForwardBatch& batch, PlanMemory& memory)
      : fault_(fault), device_(device) {
    const AttentionLayer& layer = batch.problem->layer;
    const std::int64_t sums = batch.q_tokens() * layer.heads_q * layer.head_dim_v;
    scratch_ = memory.reserve(kSumsOffset + static_cast<std::size_t>(sums) * sizeof(float));
    step_ = step_of(batch);
    if (device_ == DeviceKind::kCpu) return;
    memory.device().copy_from_host(scratch_ + kStepOffset, &step_, sizeof step_);
  }

  void run(Stream& stream) override {
    if (device_ == DeviceKind::kCpu) return run_on_host(step_);
    launch_mutant(step_, scratch_ + kStepOffset, stream);
  }

  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override {
    if (device_ == DeviceKind::kCpu) return false;
    step_ = step_of(batch);
    enqueue_step(step_, scratch_ + kStepOffset, stream);
    return true;
  }

 private:
  [[nodiscard]] MutantStep step_of(const ForwardBatch& batch) const;

  Fault fault_;
  DeviceKind device_;
  MutantStep step_;
  std::byte* scratch_ = nullptr;  ///< the count of runs, a GPU's step, the sums
};

MutantStep PlannedMutant::step_of(const ForwardBatch& batch) const {
  MutantStep step;
  step.fault = fault_;
  step.layer = batch.problem->layer;
  step.batch = device_batch_of(batch);
  step.pool = *batch.token_to_kv_pool;
  step.tokens = tokens_of_requests(batch);
  step.q = batch.tensors.q;
  step.sinks = batch.tensors.sinks;
  step.out = batch.tensors.out;
  step.lse = batch.tensors.lse;
  // Memory of a Device, aligned for any type.
  step.runs = static_cast<std::uint32_t*>(static_cast<void*>(scratch_));
  step.sums = static_cast<float*>(static_cast<void*>(scratch_ + kSumsOffset));
  return step;
}

}  // namespace

MutantBackend::MutantBackend(Fault fault, DeviceKind device) : fault_(fault) {
  info_.name = "mutant";
  info_.version = "1";
  info_.description = to_string(fault);
  info_.index_format = "req_to_token";
  info_.device = device;
}

Numerics MutantBackend::numerics(const Problem& problem) const {
  switch (fault_) {
    case Fault::kLongSplitDropsAKey:
    case Fault::kLongSplitRoundsWeights:
    case Fault::kWeightsInF16:
    case Fault::kWeightsInBf16:
    case Fault::kWeightsInE4m3:
      return {.p = problem.dtype};  // as tensor cores take them: the bounds widen accordingly
    default:
      return {};
  }
}

std::unique_ptr<Plan> MutantBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.problem->layer.is_recurrent()) return plan_delta_net_mutant(fault_, batch);
  return std::make_unique<PlannedMutant>(fault_, info_.device, batch, memory);
}

}  // namespace attnbench
