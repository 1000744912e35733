// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "backends/common/merge_states.h"
#include "lib/backend/backend.h"

namespace attnbench {

/// What a variant of `base` is that reads a step's own keys as they come: "paged_fa:ragged_paged",
/// which takes part only where it is named.
[[nodiscard]] BackendInfo ragged_paged_info(BackendInfo base);

/// Prompts as SGLang has FlashInfer compute them (flashinfer_backend.py, forward_extend): the new
/// tokens attend to each other in the step's k_new and v_new, which lie side by side, then all of
/// them to the cached prefixes, page by page and without a mask; both are merged by their LSEs.
/// Without a prefix in the batch the pages are not read at all. A cache with scales other than 1
/// holds other numbers than k_new and v_new, so that its pages are all that is read.
class RaggedPagedBackend : public Backend {
 public:
  RaggedPagedBackend(std::unique_ptr<Backend> kernels, MergeStates merge);

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
class RaggedPaged final : public RaggedPagedBackend {
 public:
  RaggedPaged() : RaggedPagedBackend(std::make_unique<Kernels>(), kMerge) {}
};

}  // namespace attnbench
