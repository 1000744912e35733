// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/joined_queries.h"

#include <array>
#include <utility>
#include <vector>

#include "lib/base/int_math.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {
namespace {

Problem of_joined_queries(Problem problem) {
  problem.layer.queries_apart = false;
  return problem;
}

class JoinedQueriesPlan final : public Plan {
 public:
  JoinedQueriesPlan(Backend& kernels, const ForwardBatch& batch, CopyRows copy, PlanMemory& memory)
      : problem_(of_joined_queries(*batch.problem)), copy_(copy) {
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
    set_step(batch);
    plan_ = kernels.plan(step_, memory.part(0));  // which may have parts of its own
  }

  void run(Stream& stream) override {
    copy_(copies_, stream);
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
    step_.tensors.q = joined_.read_only();
    step_.tensors.q_nope = step_.tensors.q_pe = {};
  }

  Problem problem_;
  CopyRows copy_;
  TensorView joined_;
  std::array<RowCopy, 2> copies_;
  ForwardBatch step_;  ///< which the plan reads
  std::unique_ptr<Plan> plan_;
};

class JoinedQueriesBackend final : public Backend {
 public:
  JoinedQueriesBackend(std::unique_ptr<Backend> kernels, CopyRows copy)
      : kernels_(std::move(kernels)), copy_(copy), info_(with_joined_queries(kernels_->info())) {}

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return kernels_->supports(of_joined_queries(problem));
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return kernels_->formats(of_joined_queries(problem));
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return kernels_->numerics(of_joined_queries(problem));
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    const bool apart = batch.problem->layer.queries_apart && attends(batch.problem->step);
    if (!apart || batch.batch_size == 0) return kernels_->plan(batch, memory);
    return std::make_unique<JoinedQueriesPlan>(*kernels_, batch, copy_, memory);
  }

 private:
  std::unique_ptr<Backend> kernels_;
  CopyRows copy_;
  BackendInfo info_;
};

}  // namespace

BackendInfo with_joined_queries(BackendInfo kernels) {
  kernels.reads_queries_apart = true;
  return kernels;
}

std::unique_ptr<Backend> with_joined_queries(std::unique_ptr<Backend> kernels, CopyRows copy) {
  return std::make_unique<JoinedQueriesBackend>(std::move(kernels), copy);
}

}  // namespace attnbench
