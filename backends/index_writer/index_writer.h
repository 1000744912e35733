// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/common/part_backend.h"

/// Brings the index keys of a step's tokens to the cache of the indexer (StepPart::kIndexWrite), in
/// place of attention.
namespace attnbench::index_writer {

/// What `attnbench list backends` says of them, with and without nvcc.
[[nodiscard]] inline BackendInfo info_on(DeviceKind device) {
  const bool on_gpu = device == DeviceKind::kCuda;
  BackendInfo info;
  info.name = on_gpu ? "index_writer_cuda" : "index_writer";
  info.version = "1";
  info.description = on_gpu ? "rows of an indexer's cache, a block for each token"
                            : "rows of an indexer's cache: e4m3 with a scale of a power of two, or "
                              "bf16";
  info.index_format = "slots";
  info.device = device;
  if (on_gpu) info.cuda_graph = CudaGraphSupport::kAlways;
  info.updates_in_pipelines = on_gpu;
  info.padding_seq_len = 0;
  info.writes_index_keys = true;
  return info;
}

class Writer : public PartBackend {
 public:
  explicit Writer(DeviceKind device)
      : PartBackend(StepPart::kIndexWrite, "it writes index keys only", info_on(device)) {}
};

/// On all threads of a CPU, a token at a time.
class HostWriter final : public Writer {
 public:
  HostWriter() : Writer(DeviceKind::kCpu) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

class GpuWriter final : public Writer {
 public:
  GpuWriter() : Writer(DeviceKind::kCuda) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

}  // namespace attnbench::index_writer
