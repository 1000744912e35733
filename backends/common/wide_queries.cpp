// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/wide_queries.h"

#include <utility>

#include "backends/common/rewritten_step.h"
#include "lib/base/int_math.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {
namespace {

/// What the kernels are asked for.
Problem of_wide_queries(Problem problem, float q_scale) {
  problem.layer.scale *= static_cast<double>(q_scale);
  problem.fp8.q.reset();
  problem.fp8.q_scales = QScales::kTensor;
  return problem;
}

class WideQueriesPlan final : public RewrittenStep {
 public:
  WideQueriesPlan(Backend& kernels, const ForwardBatch& batch, WidenQueries widen,
                  PlanMemory& memory)
      : RewrittenStep(of_wide_queries(*batch.problem, batch.tensors.q_scale)), widen_(widen) {
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

  WidenQueries widen_;
  WideQueries queries_;
};

class WideQueriesBackend final : public WrappedBackend {
 public:
  WideQueriesBackend(std::unique_ptr<Backend> kernels, WidenQueries widen)
      : WrappedBackend(std::move(kernels)), widen_(widen) {
    own_info().reads_fp8_queries = true;
  }

  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    if (!batch.problem->fp8.q || batch.batch_size == 0) return kernels().plan(batch, memory);
    return std::make_unique<WideQueriesPlan>(kernels(), batch, widen_, memory);
  }

 private:
  [[nodiscard]] Problem kernels_problem(const Problem& problem) const override {
    return of_wide_queries(problem, 1);
  }

  WidenQueries widen_;
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

std::unique_ptr<Backend> with_wide_queries(std::unique_ptr<Backend> kernels, WidenQueries widen) {
  return std::make_unique<WideQueriesBackend>(std::move(kernels), widen);
}

}  // namespace attnbench
