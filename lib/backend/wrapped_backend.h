// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/backend/backend.h"

namespace attnbench {

/// A plan that does what another plan does. A subclass overrides only what it changes. A subclass
/// that overrides run() overrides graph() as well: the other plan's graph lacks its launches.
class WrappedPlan : public Plan {
 public:
  explicit WrappedPlan(std::unique_ptr<Plan> plan = nullptr) : plan_(std::move(plan)) {}

  void run(Stream& stream) override { plan_->run(stream); }
  [[nodiscard]] void* graph() override { return plan_->graph(); }
  [[nodiscard]] std::string kernel() const override { return plan_->kernel(); }
  [[nodiscard]] bool update(const ForwardBatch& batch, Stream& stream) override {
    return plan_->update(batch, stream);
  }

 protected:
  /// Sets the plan, or with null destroys it: a subclass that owns the plan's batch does so first.
  void wrap(std::unique_ptr<Plan> plan) { plan_ = std::move(plan); }

 private:
  std::unique_ptr<Plan> plan_;
};

/// A backend that does what another backend does. A subclass overrides only what it changes.
class WrappedBackend : public Backend {
 public:
  explicit WrappedBackend(std::unique_ptr<Backend> kernels)
      : kernels_(std::move(kernels)), info_(kernels_->info()) {}

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return kernels_->supports(kernels_problem(problem));
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return kernels_->formats(kernels_problem(problem));
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return kernels_->numerics(kernels_problem(problem));
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return kernels_->plan(batch, memory);
  }

 protected:
  /// The problem that the wrapped backend is asked about instead of `problem`.
  [[nodiscard]] virtual Problem kernels_problem(const Problem& problem) const { return problem; }
  [[nodiscard]] Backend& kernels() const { return *kernels_; }
  /// The wrapped backend's; a constructor changes it.
  [[nodiscard]] BackendInfo& own_info() { return info_; }

 private:
  std::unique_ptr<Backend> kernels_;
  BackendInfo info_;
};

}  // namespace attnbench
