// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "lib/backend/backend.h"

namespace attnbench {

/// A plan whose run() is a function, the same for every step.
class FunctionPlan final : public Plan {
 public:
  explicit FunctionPlan(std::function<void(Stream&)> run) : run_(std::move(run)) {}
  void run(Stream& stream) override { run_(stream); }
  [[nodiscard]] bool update(const ForwardBatch&, Stream&) override { return true; }

 private:
  std::function<void(Stream&)> run_;
};

/// A backend for tests: it takes every problem, and its plans do nothing unless they are told to.
class StubBackend : public Backend {
 public:
  explicit StubBackend(std::string name) { info_.name = std::move(name); }

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem&) const override { return Support::yes(); }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch&, PlanMemory&) override {
    return std::make_unique<FunctionPlan>([](Stream&) {});
  }

 protected:
  BackendInfo info_;
};

}  // namespace attnbench
