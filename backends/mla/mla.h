// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "lib/backend/backend.h"

namespace attnbench::mla {

/// What `attnbench list backends` says, with and without nvcc.
[[nodiscard]] inline BackendInfo info() {
  BackendInfo info;
  info.name = "mla";
  info.version = "1";
  info.description = "absorbed MLA on tensor cores, keys split, merged by LSE";
  info.index_format = "block_table";
  info.device = DeviceKind::kCuda;
  info.cuda_graph = CudaGraphSupport::kUniformBatch;
  // Padding requests have no work: nothing is read for them, and nothing written.
  info.padding_seq_len = 0;
  info.writes_fp8_outputs = true;
  info.reads_lists_at_run = true;
  info.updates_in_pipelines = true;
  return info;
}

/// Absorbed multi-head latent attention on a GPU through a block table (decode, verify and extend
/// alike): one latent row per token serves every query head as key and as value.
class MlaBackend final : public Backend {
 public:
  /// Without `warpgroups` the kernels of GPUs before Hopper do everything.
  explicit MlaBackend(bool warpgroups = true);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  /// Latent rows that share their scale: that of the tensor, or of the request.
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
  bool warpgroups_;
};

}  // namespace attnbench::mla
