// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "backends/common/merge_states.h"
#include "lib/backend/backend.h"

namespace attnbench {

/// What a variant of `base` is that verifies draft trees in two passes: "paged_fa:two_stage", which
/// takes part only where it is named.
[[nodiscard]] BackendInfo two_stage_info(BackendInfo base);

/// Draft trees in two passes instead of under one mask, as SGLang's FlashAttention backend verifies
/// trees with branches: all nodes attend to the committed prefix without causality, then each
/// attends to the slots of the nodes that it sees, as a request of its own; both are merged by
/// their LSEs.
class TwoStageBackend : public Backend {
 public:
  TwoStageBackend(std::unique_ptr<Backend> kernels, MergeStates merge);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  std::unique_ptr<Backend> kernels_;
  MergeStates merge_;
  BackendInfo info_;
};

/// The same around a backend of the kind `Kernels`.
template <class Kernels, MergeStates kMerge>
class TwoStage final : public TwoStageBackend {
 public:
  TwoStage() : TwoStageBackend(std::make_unique<Kernels>(), kMerge) {}
};

}  // namespace attnbench
