// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/common/part_backend.h"

/// Builds the index arrays of a step (StepPart::kIndex), in place of attention.
namespace attnbench::index_builder {

/// What `attnbench list backends` says of them, with and without nvcc.
[[nodiscard]] inline BackendInfo info_on(DeviceKind device) {
  const bool on_gpu = device == DeviceKind::kCuda;
  BackendInfo info;
  info.name = on_gpu ? "index_builder_cuda" : "index_builder";
  info.version = "1";
  info.description =
      on_gpu ? "index arrays from req_to_token: a scan of the lengths, then 32 blocks a request"
             : "index arrays from req_to_token: a sum of the lengths, then a request a thread";
  info.index_format = "req_to_token";
  info.device = device;
  info.padding_seq_len = 0;
  info.builds_indices = {IndexForm::kCsr, IndexForm::kPageTable};
  return info;
}

class Builder : public PartBackend {
 public:
  explicit Builder(DeviceKind device)
      : PartBackend(StepPart::kIndex, "it builds index arrays only", info_on(device)) {}
};

/// On all threads of a CPU.
class HostBuilder final : public Builder {
 public:
  HostBuilder() : Builder(DeviceKind::kCpu) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

/// By the kernels of lib/index/cuda, which an engine's graph need not hold: it builds its arrays
/// before it replays one.
class GpuBuilder final : public Builder {
 public:
  GpuBuilder() : Builder(DeviceKind::kCuda) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

}  // namespace attnbench::index_builder
