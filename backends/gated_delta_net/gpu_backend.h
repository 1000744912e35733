// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "lib/backend/backend.h"

namespace attnbench::gated_delta_net {

/// The gated delta rule token by token, in f32, on a GPU.
class GpuBackend final : public Backend {
 public:
  GpuBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
};

}  // namespace attnbench::gated_delta_net
