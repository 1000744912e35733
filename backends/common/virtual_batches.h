// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "lib/backend/backend.h"

namespace attnbench {

/// What a variant of `base` is that computes chunked layers as virtual batches:
/// "paged_fa:virtual_batches", which takes part only where it is named.
[[nodiscard]] BackendInfo virtual_batches_info(BackendInfo base);

/// Chunked local attention as engines give it to kernels without chunks: its plan() cuts each
/// request into virtual ones, each within one chunk and plainly causal, builds their page table
/// (lib/index/local_attention.h) and hands the step to the kernels of another backend.
class VirtualBatchesBackend : public Backend {
 public:
  explicit VirtualBatchesBackend(std::unique_ptr<Backend> kernels);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  std::unique_ptr<Backend> kernels_;
  BackendInfo info_;
};

/// The same around a backend of the kind `Kernels`.
template <class Kernels>
class VirtualBatches final : public VirtualBatchesBackend {
 public:
  VirtualBatches() : VirtualBatchesBackend(std::make_unique<Kernels>()) {}
};

}  // namespace attnbench
