// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/kv_write.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/backend/format_choice.h"
#include "lib/backend/wrapped_backend.h"

namespace attnbench {
namespace {

class WriteThenAttend final : public WrappedPlan {
 public:
  WriteThenAttend(std::unique_ptr<Plan> write, std::unique_ptr<Plan> attention)
      : WrappedPlan(std::move(attention)), write_(std::move(write)) {}

  void run(Stream& stream) override {
    write_->run(stream);
    WrappedPlan::run(stream);
  }
  /// None: the attention's graph lacks the write.
  [[nodiscard]] void* graph() override { return nullptr; }
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override {
    return write_->update(batch, stream) && WrappedPlan::update(batch, stream);
  }

 private:
  std::unique_ptr<Plan> write_;
};

class KvWritingBackend final : public WrappedBackend {
 public:
  KvWritingBackend(std::unique_ptr<Backend> attention, PlanKvWrite plan_write)
      : WrappedBackend(std::move(attention)), plan_write_(std::move(plan_write)) {
    own_info().writes_kv = true;
  }

  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    std::vector<KvLayout> layouts = WrappedBackend::formats(problem);
    if (attends(problem.step)) return layouts;
    for (const KvLayout layout : kPoolLayouts) {
      if (std::ranges::find(layouts, layout) == layouts.end()) layouts.push_back(layout);
    }
    return layouts;
  }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    if (attends(problem.step)) return WrappedBackend::supports(problem);
    Problem readable = problem;
    readable.step = StepPart::kAttention;
    readable.fp8 = {};
    readable.cache = {problem.dtype, problem.cache.layout, problem.cache.page_size,
                      KvScales::kTensor};
    return choose_format(kernels(), readable, {}).support;
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    const StepPart step = batch.problem->step;
    if (!writes_kv(step)) return kernels().plan(batch, memory);
    std::unique_ptr<Plan> write = plan_write_(batch, memory);
    if (!attends(step)) return write;
    return std::make_unique<WriteThenAttend>(std::move(write), kernels().plan(batch, memory));
  }

 private:
  PlanKvWrite plan_write_;
};

}  // namespace

std::unique_ptr<Backend> with_kv_write(std::unique_ptr<Backend> attention, PlanKvWrite plan_write) {
  return std::make_unique<KvWritingBackend>(std::move(attention), std::move(plan_write));
}

}  // namespace attnbench
