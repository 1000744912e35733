// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "backends/common/kernel_support.h"
#include "lib/backend/backend.h"

namespace attnbench::torch_native {

/// Dense attention request by request, as SGLang's torch_native backend does it: gather, scores,
/// softmax, weighted sum.
class TorchNativeBackend final : public Backend {
 public:
  TorchNativeBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return unsupported_by_default(
        problem, kKernelFeatures | Features{Feature::kLatent, Feature::kItems, Feature::kAlibi,
                                            Feature::kSelection, Feature::kListsOfHeads});
  }
  /// All of them.
  [[nodiscard]] std::vector<KvLayout> formats(const Problem&) const override {
    return {kCacheLayouts.begin(), kCacheLayouts.end()};
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
};

}  // namespace attnbench::torch_native
