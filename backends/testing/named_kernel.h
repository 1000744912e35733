// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "lib/backend/wrapped_backend.h"

namespace attnbench {

/// Another backend whose plans say which kernel they chose, as those of cuDNN do.
class NamedKernel final : public WrappedBackend {
 public:
  NamedKernel(std::unique_ptr<Backend> kernels, std::string name)
      : WrappedBackend(std::move(kernels)), name_(std::move(name)) {}

  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return std::make_unique<Named>(kernels().plan(batch, memory), name_);
  }

 private:
  class Named final : public WrappedPlan {
   public:
    Named(std::unique_ptr<Plan> plan, std::string name)
        : WrappedPlan(std::move(plan)), name_(std::move(name)) {}
    [[nodiscard]] std::string kernel() const override { return name_; }

   private:
    std::string name_;
  };

  std::string name_;
};

}  // namespace attnbench
