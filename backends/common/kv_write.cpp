// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kv_write.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/backend/format_choice.h"

namespace attnbench {
namespace {

class WriteThenAttend final : public Plan {
 public:
  WriteThenAttend(std::unique_ptr<Plan> write, std::unique_ptr<Plan> attention)
      : write_(std::move(write)), attention_(std::move(attention)) {}

  void run(Stream& stream) override {
    write_->run(stream);
    attention_->run(stream);
  }
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override {
    return write_->update(batch, stream) && attention_->update(batch, stream);
  }
  [[nodiscard]] std::string kernel() const override { return attention_->kernel(); }

 private:
  std::unique_ptr<Plan> write_, attention_;
};

class KvWritingBackend final : public Backend {
 public:
  KvWritingBackend(std::unique_ptr<Backend> attention, PlanKvWrite plan_write)
      : attention_(std::move(attention)),
        plan_write_(std::move(plan_write)),
        info_(with_kv_write(attention_->info())) {}

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    std::vector<KvLayout> layouts = attention_->formats(problem);
    if (attends(problem.step)) return layouts;
    for (const KvLayout layout : kPoolLayouts) {
      if (std::ranges::find(layouts, layout) == layouts.end()) layouts.push_back(layout);
    }
    return layouts;
  }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    if (attends(problem.step)) return attention_->supports(problem);
    Problem readable = problem;
    readable.step = StepPart::kAttention;
    readable.fp8 = {};
    readable.cache = {problem.dtype, problem.cache.layout, problem.cache.page_size,
                      KvScales::kTensor};
    return choose_format(*attention_, readable, {}).support;
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return attention_->numerics(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    const StepPart step = batch.problem->step;
    if (!writes_kv(step)) return attention_->plan(batch, memory);
    std::unique_ptr<Plan> write = plan_write_(batch, memory);
    if (!attends(step)) return write;
    return std::make_unique<WriteThenAttend>(std::move(write), attention_->plan(batch, memory));
  }

 private:
  std::unique_ptr<Backend> attention_;
  PlanKvWrite plan_write_;
  BackendInfo info_;
};

}  // namespace

BackendInfo with_kv_write(BackendInfo attention) {
  attention.writes_kv = true;
  return attention;
}

std::unique_ptr<Backend> with_kv_write(std::unique_ptr<Backend> attention, PlanKvWrite plan_write) {
  return std::make_unique<KvWritingBackend>(std::move(attention), std::move(plan_write));
}

}  // namespace attnbench
