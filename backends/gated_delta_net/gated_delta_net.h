// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "backends/gated_delta_net/recurrent_layers.h"
#include "lib/backend/backend.h"

namespace attnbench::gated_delta_net {

/// The gated delta rule token by token, in f32, on all threads of a CPU.
class GatedDeltaNetBackend final : public Backend {
 public:
  GatedDeltaNetBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return supports_recurrent_layers(problem);
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return layouts_of_states(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
};

/// What `attnbench list backends` says of the GPU's, with and without nvcc.
[[nodiscard]] inline BackendInfo gpu_info() {
  BackendInfo info;
  info.name = "gated_delta_net_cuda";
  info.version = "1";
  info.description = "gated delta rule token by token, a warp for eight value dims; f32";
  info.index_format = "state_indices";
  info.device = DeviceKind::kCuda;
  info.cuda_graph = CudaGraphSupport::kUniformBatch;
  // Padding requests have no state: nothing is read for them, and nothing written.
  info.padding_seq_len = 0;
  return info;
}

/// The gated delta rule token by token, in f32, on a GPU.
class GpuBackend final : public Backend {
 public:
  GpuBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return layouts_of_states(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
};

}  // namespace attnbench::gated_delta_net
