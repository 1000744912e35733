// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/cuda/planning.h"

#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

void expect_recorded_step(const Problem& problem, const ForwardBatch& batch) {
  expects(problem.mode == ForwardMode::kDecode || problem.mode == ForwardMode::kTargetVerify,
          "only decode and target_verify steps are recorded");
  expects(problem.limits.is_uniform(),
          "a recorded step's requests have the same number of query tokens each");
  expect_step_of(problem, batch);
  expects(batch.batch_size == 0 || batch.q_len(0) == problem.limits.q_len,
          "a step with fewer query tokens per request than the recorded one");
}

}  // namespace

StepPlan::StepPlan(const ForwardBatch& batch) : problem_(*batch.problem) {
  if (problem_.recorded) expect_recorded_step(problem_, batch);
}

bool StepPlan::update(const ForwardBatch& batch, Stream& stream) {
  if (!problem_.recorded) return false;
  expect_recorded_step(problem_, batch);
  enqueue_step(batch, stream.native());
  return true;
}

void enqueue_upload(const Upload& upload, std::byte* to, void* stream) {
  // From pageable memory: what is copied may go when the call returns.
  check_cuda(cudaMemcpyAsync(to, upload.bytes().data(), upload.bytes().size(),
                             cudaMemcpyHostToDevice, static_cast<cudaStream_t>(stream)),
             "cudaMemcpyAsync");
}

void finish_planning() { check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"); }

}  // namespace attnbench
