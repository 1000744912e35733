// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/wide_queries.h"

#include <string>
#include <utility>
#include <vector>

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

class WideQueriesPlan final : public Plan {
 public:
  WideQueriesPlan(Backend& kernels, const ForwardBatch& batch, WidenQueries widen,
                  PlanMemory& memory)
      : problem_(of_wide_queries(*batch.problem, batch.tensors.q_scale)), widen_(widen) {
    const ConstTensorView& q = batch.tensors.q;
    const std::int64_t bytes = q.size() * size_bytes(problem_.dtype);
    queries_.from = q;
    queries_.to = TensorView::dense(memory.reserve(to_size(bytes)), problem_.dtype, q.shape[0],
                                    q.shape[1], q.shape[2]);
    queries_.scales = q_scale_array(batch);
    if (queries_.scales.kind == QScales::kRequest) queries_.requests = token_requests(batch);
    set_step(batch);
    plan_ = kernels.plan(step_, memory.part(0));  // which may have parts of its own
  }

  void run(Stream& stream) override {
    widen_(queries_, stream);
    plan_->run(stream);
  }
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override {
    set_step(batch);
    return plan_->update(step_, stream);
  }
  [[nodiscard]] std::string kernel() const override { return plan_->kernel(); }

 private:
  void set_step(const ForwardBatch& batch) {
    step_ = batch;
    step_.problem = &problem_;
    step_.tensors.q = queries_.to.read_only();
    step_.tensors.q_scale = 1;
    step_.tensors.q_scales = nullptr;
  }

  Problem problem_;
  WidenQueries widen_;
  WideQueries queries_;
  ForwardBatch step_;  ///< which the plan reads
  std::unique_ptr<Plan> plan_;
};

class WideQueriesBackend final : public Backend {
 public:
  WideQueriesBackend(std::unique_ptr<Backend> kernels, WidenQueries widen)
      : kernels_(std::move(kernels)), widen_(widen), info_(with_wide_queries(kernels_->info())) {}

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return kernels_->supports(of_wide_queries(problem, 1));
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return kernels_->formats(of_wide_queries(problem, 1));
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return kernels_->numerics(of_wide_queries(problem, 1));
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    if (!batch.problem->fp8.q || batch.batch_size == 0) return kernels_->plan(batch, memory);
    return std::make_unique<WideQueriesPlan>(*kernels_, batch, widen_, memory);
  }

 private:
  std::unique_ptr<Backend> kernels_;
  WidenQueries widen_;
  BackendInfo info_;
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

BackendInfo with_wide_queries(BackendInfo kernels) {
  kernels.reads_fp8_queries = true;
  return kernels;
}

std::unique_ptr<Backend> with_wide_queries(std::unique_ptr<Backend> kernels, WidenQueries widen) {
  return std::make_unique<WideQueriesBackend>(std::move(kernels), widen);
}

}  // namespace attnbench
