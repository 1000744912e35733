// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "lib/backend/backend.h"
#include "lib/backend/support.h"
#include "lib/batch/cache_format.h"
#include "lib/batch/problem.h"

namespace attnbench::gated_delta_net {

inline constexpr std::array kFamilies = {Family::kGatedDeltaNet, Family::kKimiDelta,
                                         Family::kLightning, Family::kMamba2};

/// What `attnbench list backends` says of a family of recurrent layers.
struct FamilyWords {
  std::string_view name;    ///< of the backend on a CPU
  std::string_view rule;    ///< that it computes
  std::string_view layers;  ///< that it takes
};
[[nodiscard]] constexpr FamilyWords words_of(Family family) {
  if (family == Family::kKimiDelta) {
    return {"kimi_delta", "gated delta rule with a decay for each key dim", "Kimi delta attention"};
  }
  if (family == Family::kLightning) {
    return {"lightning", "linear attention with a decay for each head", "lightning attention"};
  }
  if (family == Family::kMamba2) return {"mamba2", "Mamba-2's recurrence", "Mamba-2"};
  return {"gated_delta_net", "gated delta rule", "gated delta nets"};
}

/// What both backends of a family refuse.
[[nodiscard]] Support supports_family(const Problem& problem, Family family);

/// States, key dims first. A layer with keys is refused however they lie: each layout is read, so
/// that the refusal is that of the layer.
[[nodiscard]] inline std::vector<KvLayout> layouts_of_states(const Problem& problem) {
  return {problem.layer.is_recurrent() ? KvLayout::kStatesKv : problem.cache.layout};
}

/// One family's rule token by token, in f32, on all threads of a CPU.
class RecurrentBackend final : public Backend {
 public:
  explicit RecurrentBackend(Family family);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return supports_family(problem, family_);
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return layouts_of_states(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  Family family_;
  BackendInfo info_;
};

/// The same of the GPU's, with and without nvcc.
[[nodiscard]] BackendInfo gpu_info(Family family);

/// One family's rule token by token, in f32, on a GPU.
class GpuBackend final : public Backend {
 public:
  explicit GpuBackend(Family family);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return layouts_of_states(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  Family family_;
  BackendInfo info_;
};

}  // namespace attnbench::gated_delta_net
