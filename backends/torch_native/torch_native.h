// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "lib/backend/backend.h"

namespace attnbench::torch_native {

/// Dense attention request by request, as SGLang's torch_native backend does it: gather, scores,
/// softmax, weighted sum.
class TorchNativeBackend final : public Backend {
 public:
  TorchNativeBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem&) const override { return Support::yes(); }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
};

}  // namespace attnbench::torch_native
