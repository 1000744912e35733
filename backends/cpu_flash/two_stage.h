// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "lib/backend/backend.h"

namespace attnbench::cpu_flash {

/// Draft trees in two passes instead of under one mask, as SGLang's FlashAttention backend verifies
/// trees with branches: all nodes attend to the committed prefix without causality, then each
/// attends to the slots of the nodes that it sees, as a request of its own; both are merged by
/// their LSE. Sinks join the first pass alone, so that they count once.
class TwoStageBackend final : public Backend {
 public:
  TwoStageBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
};

}  // namespace attnbench::cpu_flash
