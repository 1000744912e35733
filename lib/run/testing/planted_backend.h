// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "lib/backend/registry.h"
#include "lib/backend/testing/stub_backend.h"

namespace attnbench {

/// What a planted backend does besides its work; each may be empty.
struct Misdeeds {
  std::function<void()> when_planning;
  /// Before each run, which works on what is left of the tensors.
  std::function<void(AttentionTensors&)> when_running;
  /// Before it says what it supports.
  std::function<void()> when_asked = {};
};

/// A backend under another name, with misdeeds.
class PlantedBackend final : public Backend {
 public:
  PlantedBackend(std::string name, std::unique_ptr<Backend> honest, Misdeeds misdeeds)
      : honest_(std::move(honest)), misdeeds_(std::move(misdeeds)), info_(honest_->info()) {
    info_.name = std::move(name);
  }

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    if (misdeeds_.when_asked) misdeeds_.when_asked();
    return honest_->supports(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    if (misdeeds_.when_planning) misdeeds_.when_planning();
    if (!misdeeds_.when_running) return honest_->plan(batch, memory);
    return std::make_unique<FunctionPlan>([this, batch, &memory](Stream& stream) {
      ForwardBatch changed = batch;
      misdeeds_.when_running(changed.tensors);
      honest_->plan(changed, memory)->run(stream);
    });
  }

 private:
  std::unique_ptr<Backend> honest_;
  Misdeeds misdeeds_;
  BackendInfo info_;
};

}  // namespace attnbench
