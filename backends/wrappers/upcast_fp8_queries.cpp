// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/upcast_fp8_queries.h"

#include <utility>

#include "backends/wrappers/rewritten_step.h"
#include "lib/base/int_math.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {
namespace {

/// What the kernels are asked for.
Problem with_upcast_q(Problem problem, float q_scale) {
  problem.layer.scale *= static_cast<double>(q_scale);
  problem.fp8.q.reset();
  problem.fp8.q_scales = QScales::kTensor;
  return problem;
}

class UpcastFp8QueriesPlan final : public RewrittenStep {
 public:
  UpcastFp8QueriesPlan(Backend& kernels, const ForwardBatch& batch, EnqueueUpcast widen,
                       PlanMemory& memory)
      : RewrittenStep(with_upcast_q(*batch.problem, batch.tensors.q_scale)), widen_(widen) {
    const ConstTensorView& q = batch.tensors.q;
    const std::int64_t bytes = q.size() * size_bytes(problem().dtype);
    queries_.from = q;
    queries_.to = TensorView::dense(memory.reserve(to_size(bytes)), problem().dtype, q.shape[0],
                                    q.shape[1], q.shape[2]);
    queries_.scales = q_scale_array(batch);
    if (queries_.scales.kind == QScales::kRequest) queries_.requests = token_requests(batch);
    plan_with(kernels, batch, memory);
  }

 private:
  void enqueue_before(Stream& stream) override { widen_(queries_, stream); }
  void replace(AttentionTensors& tensors) const override {
    tensors.q = queries_.to.read_only();
    tensors.q_scale = 1;
    tensors.q_scales = nullptr;
  }

  EnqueueUpcast widen_;
  UpcastFp8Queries queries_;
};

class UpcastFp8QueriesBackend final : public WrappedBackend {
 public:
  UpcastFp8QueriesBackend(std::unique_ptr<Backend> kernels, EnqueueUpcast widen)
      : WrappedBackend(std::move(kernels)), widen_(widen) {
    own_info().reads_fp8_queries = true;
  }

  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    if (!batch.problem->fp8.q || batch.batch_size == 0) return kernels().plan(batch, memory);
    return std::make_unique<UpcastFp8QueriesPlan>(kernels(), batch, widen_, memory);
  }

 private:
  [[nodiscard]] Problem kernels_problem(const Problem& problem) const override {
    return with_upcast_q(problem, 1);
  }

  EnqueueUpcast widen_;
};

}  // namespace

TokenRequests token_requests(const ForwardBatch& batch) {
  TokenRequests requests;
  requests.requests = batch.batch_size;
  if (batch.problem->recorded) {
    requests.q_len = batch.problem->limits.q_len;
  } else {
    requests.qo_indptr = device_batch_of(batch).qo_indptr;
  }
  return requests;
}

std::unique_ptr<Backend> with_upcast_fp8_queries(std::unique_ptr<Backend> kernels,
                                                 EnqueueUpcast widen) {
  return std::make_unique<UpcastFp8QueriesBackend>(std::move(kernels), widen);
}

}  // namespace attnbench
