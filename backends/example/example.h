// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "lib/backend/backend.h"

namespace attnbench::example {

/// A small but correct backend, the README's worked example: causal attention straight from
/// req_to_token, one query row after another, f32 arithmetic. Not registered; its test runs the
/// shared suite on it.
class Example : public Backend {
 public:
  [[nodiscard]] const BackendInfo& info() const noexcept override;
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

}  // namespace attnbench::example
