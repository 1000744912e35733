// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "lib/backend/wrapped_backend.h"

namespace attnbench {

/// The kernels' plan of a step that is made of the engine's: for another problem, with other
/// tensors, and with launches before and behind those of the kernels.
class RewrittenStep : public WrappedPlan {
 public:
  ~RewrittenStep() override { wrap(nullptr); }  // the plan reads step_

  void run(Stream& stream) final {
    enqueue_before(stream);
    WrappedPlan::run(stream);
    enqueue_after(stream);
  }
  /// None: the kernels' graph lacks the launches around it.
  [[nodiscard]] void* graph() final { return nullptr; }
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override {
    set_step(batch);
    return WrappedPlan::update(step_, stream);
  }

 protected:
  explicit RewrittenStep(Problem problem) : problem_(std::move(problem)) {}

  /// Plans the step. A constructor calls it as soon as replace() can answer.
  void plan_with(Backend& kernels, const ForwardBatch& batch, PlanMemory& memory) {
    set_step(batch);
    wrap(kernels.plan(step_, memory.part(0)));  // which may have parts of its own
  }
  [[nodiscard]] const Problem& problem() const { return problem_; }

 private:
  /// Sets the tensors of a step that differ from the engine's.
  virtual void replace(AttentionTensors& tensors) const = 0;
  virtual void enqueue_before(Stream&) = 0;
  virtual void enqueue_after(Stream&) {}

  void set_step(const ForwardBatch& batch) {
    step_ = batch;
    step_.problem = &problem_;
    replace(step_.tensors);
  }

  Problem problem_;
  ForwardBatch step_;
};

}  // namespace attnbench
