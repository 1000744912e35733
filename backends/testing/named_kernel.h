// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/backend/backend.h"

namespace attnbench {

/// Another backend whose plans say which kernel they chose, as those of cuDNN do.
class NamedKernel final : public Backend {
 public:
  NamedKernel(std::unique_ptr<Backend> kernels, std::string name)
      : kernels_(std::move(kernels)), name_(std::move(name)) {}

  [[nodiscard]] const BackendInfo& info() const noexcept override { return kernels_->info(); }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return kernels_->supports(problem);
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return kernels_->formats(problem);
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override {
    return kernels_->numerics(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return std::make_unique<Named>(kernels_->plan(batch, memory), name_);
  }

 private:
  class Named final : public Plan {
   public:
    Named(std::unique_ptr<Plan> plan, std::string name)
        : plan_(std::move(plan)), name_(std::move(name)) {}
    void run(Stream& stream) override { plan_->run(stream); }
    [[nodiscard]] std::string kernel() const override { return name_; }

   private:
    std::unique_ptr<Plan> plan_;
    std::string name_;
  };

  std::unique_ptr<Backend> kernels_;
  std::string name_;
};

}  // namespace attnbench
