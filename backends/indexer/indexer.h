// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lib/backend/backend.h"

/// Computes the logits by which keys are selected (StepPart::kIndexer), in place of attention.
namespace attnbench::indexer {

/// What both backends of this folder have in common. No KV cache is read, so that any is taken.
class Indexer : public Backend {
 public:
  explicit Indexer(BackendInfo info) : info_(std::move(info)) {}

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return problem.step == StepPart::kIndexer ? Support::yes() : Support::no("it scores keys only");
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem&) const override {
    const std::span all(kPoolLayouts);
    return {all.begin(), all.end()};
  }

 private:
  BackendInfo info_;
};

/// What `attnbench list backends` says of them, with and without nvcc.
[[nodiscard]] inline BackendInfo info_on(DeviceKind device) {
  const bool on_gpu = device == DeviceKind::kCuda;
  BackendInfo info;
  info.name = on_gpu ? "indexer_cuda" : "indexer";
  info.version = "1";
  info.description = on_gpu
                         ? "logits of an e4m3 indexer: matrix instructions of sm_90, 64 keys a tile"
                         : "logits of an e4m3 indexer: keys widened to f32, a page a thread";
  info.index_format = "block_table";
  info.device = device;
  if (on_gpu) info.cuda_graph = CudaGraphSupport::kAlways;
  info.padding_seq_len = 0;
  info.scores_keys = true;
  return info;
}

/// On all threads of a CPU.
class HostIndexer final : public Indexer {
 public:
  HostIndexer() : Indexer(info_on(DeviceKind::kCpu)) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

class GpuIndexer final : public Indexer {
 public:
  GpuIndexer() : Indexer(info_on(DeviceKind::kCuda)) {}
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

}  // namespace attnbench::indexer
