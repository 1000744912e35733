// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/common/part_backend.h"

/// Computes the logits by which keys are selected (StepPart::kIndexer), in place of attention.
namespace attnbench::indexer {

/// What `attnbench list backends` says of them, with and without nvcc.
[[nodiscard]] inline BackendInfo info_on(DeviceKind device) {
  const bool on_gpu = device == DeviceKind::kCuda;
  BackendInfo info;
  info.name = on_gpu ? "indexer_cuda" : "indexer";
  info.version = "1";
  info.description = on_gpu
                         ? "logits of an e4m3 indexer: matrix instructions of sm_90, 64 keys a tile"
                         : "logits of an e4m3 indexer: keys widened to f32, 64 a thread at a time";
  info.index_format = "block_table";
  info.device = device;
  if (on_gpu) info.cuda_graph = CudaGraphSupport::kAlways;
  info.updates_in_pipelines = on_gpu;
  info.padding_seq_len = 0;
  info.scores_keys = true;
  return info;
}

class Indexer : public PartBackend {
 public:
  explicit Indexer(DeviceKind device)
      : PartBackend(StepPart::kIndexer, "it scores keys only", info_on(device)) {}
};

/// On all threads of a CPU.
class HostIndexer final : public Indexer {
 public:
  HostIndexer() : Indexer(DeviceKind::kCpu) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

class GpuIndexer final : public Indexer {
 public:
  GpuIndexer() : Indexer(DeviceKind::kCuda) {}
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

}  // namespace attnbench::indexer
