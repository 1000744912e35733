// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <array>
#include <utility>

#include "backends/wrappers/rewritten_step.h"
#include "lib/base/int_math.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {
namespace {

Problem with_concatenated_q(Problem problem) {
  problem.layer.queries_apart = false;
  return problem;
}

class ConcatMlaQPlan final : public RewrittenStep {
 public:
  ConcatMlaQPlan(Backend& kernels, const ForwardBatch& batch, CopyRows copy, PlanMemory& memory)
      : RewrittenStep(with_concatenated_q(*batch.problem)), copy_(copy) {
    const ConstTensorView &nope = batch.tensors.q_nope, &pe = batch.tensors.q_pe;
    const std::int64_t bytes = (nope.size() + pe.size()) * size_bytes(nope.dtype);
    joined_ = TensorView::dense(memory.reserve(to_size(bytes)), nope.dtype, nope.shape[0],
                                nope.shape[1], nope.shape[2] + pe.shape[2]);
    const std::int64_t rows = nope.shape[0] * nope.shape[1];
    const auto row_bytes = [](const auto& view) { return view.shape[2] * size_bytes(view.dtype); };
    copies_ = {RowCopy{nope.data, joined_.data, row_bytes(nope), row_bytes(joined_),
                       row_bytes(nope), rows},
               RowCopy{pe.data, joined_.data + row_bytes(nope), row_bytes(pe), row_bytes(joined_),
                       row_bytes(pe), rows}};
    plan_with(kernels, batch, memory);
  }

 private:
  void enqueue_before(Stream& stream) override { copy_(copies_, stream); }
  void replace(AttentionTensors& tensors) const override {
    tensors.q = joined_.read_only();
    tensors.q_nope = tensors.q_pe = {};
  }

  CopyRows copy_;
  TensorView joined_;
  std::array<RowCopy, 2> copies_;
};

class ConcatMlaQBackend final : public WrappedBackend {
 public:
  ConcatMlaQBackend(std::unique_ptr<Backend> kernels, CopyRows copy)
      : WrappedBackend(std::move(kernels)), copy_(copy) {
    own_info().reads_queries_apart = true;
  }

  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    const bool apart = batch.problem->layer.queries_apart && attends(batch.problem->step);
    if (!apart || batch.batch_size == 0) return kernels().plan(batch, memory);
    return std::make_unique<ConcatMlaQPlan>(kernels(), batch, copy_, memory);
  }

 private:
  [[nodiscard]] Problem kernels_problem(const Problem& problem) const override {
    return with_concatenated_q(problem);
  }

  CopyRows copy_;
};

}  // namespace

std::unique_ptr<Backend> with_concat_mla_q(std::unique_ptr<Backend> kernels, CopyRows copy) {
  return std::make_unique<ConcatMlaQBackend>(std::move(kernels), copy);
}

}  // namespace attnbench
