// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "lib/backend/backend.h"

namespace attnbench {

/// An honest backend, of whose outputs something is changed behind each run.
template <class Honest>
class SpoilsOutput final : public Backend {
 public:
  using Spoiling = std::function<void(const ForwardBatch&)>;
  explicit SpoilsOutput(Spoiling spoiling) : spoiling_(std::move(spoiling)) {}
  [[nodiscard]] const BackendInfo& info() const noexcept override { return honest_.info(); }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return honest_.supports(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    struct Spoilt final : Plan {
      void run(Stream& stream) override {
        honest->run(stream);
        (*spoiling)(*batch);
      }
      std::unique_ptr<Plan> honest;
      const ForwardBatch* batch = nullptr;
      const Spoiling* spoiling = nullptr;
    };
    auto spoilt = std::make_unique<Spoilt>();
    spoilt->honest = honest_.plan(batch, memory);
    spoilt->batch = &batch;
    spoilt->spoiling = &spoiling_;
    return spoilt;
  }

 private:
  Spoiling spoiling_;
  Honest honest_;
};

}  // namespace attnbench
