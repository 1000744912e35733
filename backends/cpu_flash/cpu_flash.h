// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/common/kernel_support.h"
#include "lib/backend/backend.h"

namespace attnbench::cpu_flash {

/// Tiled attention with an online softmax straight from the paged cache, on all threads; long
/// contexts are split and merged by their LSE. Kernels are those of the device's instruction set.
class CpuFlashBackend final : public Backend {
 public:
  /// `split_keys`: makes the variant that cuts a context at multiples of so many keys, a multiple
  /// of 64.
  explicit CpuFlashBackend(std::optional<std::int64_t> split_keys = {});

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return unsupported_by_default(
        problem, kKernelFeatures | Features{Feature::kLatent, Feature::kItems, Feature::kSpans,
                                            Feature::kAlibi, Feature::kSelection,
                                            Feature::kListsOfHeads, Feature::kHierarchy,
                                            Feature::kCompressed, Feature::kLatentSinks});
  }
  /// Contiguous rows that share their scales: one of the tensor, of the head or of the request; and
  /// latent rows with the scales of their blocks inside.
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
  std::int64_t split_keys_;
};

}  // namespace attnbench::cpu_flash
