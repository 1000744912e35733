// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cudnn/cudnn.h"

#include "backends/common/cuda/planning.h"
#include "backends/cudnn/execution_plan.h"
#include "backends/cudnn/library.h"
#include "backends/cudnn/planned.h"
#include "backends/cudnn/support.h"
#include "lib/base/error.h"

namespace attnbench::cudnn {

std::string absence() {
  try {
    static_cast<void>(library());
    return {};
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

CudnnBackend::CudnnBackend() : info_(cudnn::info()), plans_(std::make_unique<PlanCache>()) {
  info_.packages = package();
  info_.kernel = "scaled dot product attention, as an operation graph";
}

CudnnBackend::~CudnnBackend() = default;

Support CudnnBackend::supports(const Problem& problem) const { return cudnn::supports(problem); }

// Weights are rounded for the second product; all else is f32.
Numerics CudnnBackend::numerics(const Problem& problem) const { return {.p = problem.dtype}; }

std::unique_ptr<Plan> CudnnBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  if (batch.batch_size == 0) return std::make_unique<IdlePlan>();
  return std::make_unique<Planned>(batch, memory, *plans_);
}

}  // namespace attnbench::cudnn
