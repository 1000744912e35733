// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "lib/backend/backend.h"
#include "lib/backend/support.h"
#include "lib/batch/cache_format.h"
#include "lib/batch/problem.h"

namespace attnbench::gated_delta_net {

/// What both backends of this folder refuse.
[[nodiscard]] inline Support supports_recurrent_layers(const Problem& problem) {
  if (!problem.layer.is_recurrent()) {
    return Support::no("recurrent layers only: it keeps a state instead of keys and values");
  }
  return Support::yes();
}

/// States, key dims first. A layer with keys is refused however they lie: each layout is read, so
/// that the refusal is that of the layer.
[[nodiscard]] inline std::vector<KvLayout> layouts_of_states(const Problem& problem) {
  return {problem.layer.is_recurrent() ? KvLayout::kStatesKv : problem.cache.layout};
}

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
