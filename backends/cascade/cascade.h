// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "lib/backend/backend.h"

namespace attnbench::cascade {

/// Shared prefixes once for all who share them, suffixes for each, merged by LSE (Hydragen;
/// FlashInfer's cascade). Requests that share nothing are all suffix. Every plan serves the step
/// that it was made for, and no other.
class CascadeBackend final : public Backend {
 public:
  CascadeBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
};

}  // namespace attnbench::cascade
