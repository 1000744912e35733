// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "lib/backend/backend.h"

namespace attnbench::cascade {

/// What `attnbench list backends` says, with and without nvcc.
[[nodiscard]] inline BackendInfo info() {
  BackendInfo info;
  info.name = "cascade";
  info.version = "1";
  info.description = "shared prefixes once for all, suffixes each, merged by LSE";
  info.index_format = "kv_indptr/kv_indices";
  info.device = DeviceKind::kCuda;
  // The requests that share a prefix decide which kernels run; vLLM keeps cascade out of its full
  // graphs, too (docs/design/cuda_graphs.md).
  info.cuda_graph = CudaGraphSupport::kNever;
  info.writes_fp8_outputs = true;
  return info;
}

/// Computes shared prefixes once for all requests that share them, branches of a prefix once for
/// theirs, and each suffix for its own request, and merges all by their LSEs (Hydragen;
/// FlashInfer's cascade). A request that shares
/// nothing is computed as a suffix. A plan serves only the step that it was made for.
class CascadeBackend final : public Backend {
 public:
  CascadeBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  /// Rows that share a scale of the tensor or of the head, as all do that requests share.
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
};

}  // namespace attnbench::cascade
