// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/common/part_backend.h"

/// Selects the keys of the highest scores (StepPart::kSelect), in place of attention.
namespace attnbench::topk {

/// What `attnbench list backends` says of them, with and without nvcc.
[[nodiscard]] inline BackendInfo info_on(DeviceKind device) {
  const bool on_gpu = device == DeviceKind::kCuda;
  BackendInfo info;
  info.name = on_gpu ? "topk_cuda" : "topk";
  info.version = "1";
  info.description = on_gpu ? "keys of the highest scores: a radix select in registers, one to "
                              "eight blocks a row"
                            : "keys of the highest scores: nth_element over pieces of a row, then "
                              "one scan";
  info.index_format = "row_lens";
  info.device = device;
  info.deterministic = !on_gpu;  // which of equal scores, and in which order, is decided by a race
  if (on_gpu) info.cuda_graph = CudaGraphSupport::kAlways;
  info.updates_in_pipelines = on_gpu;
  info.padding_seq_len = 0;
  info.selects_keys = true;
  info.lists_tails = true;
  info.pads_front = !on_gpu;
  return info;
}

class Selector : public PartBackend {
 public:
  explicit Selector(DeviceKind device)
      : PartBackend(StepPart::kSelect, "it selects keys only", info_on(device)) {}
};

/// On all threads of a CPU.
class HostSelector final : public Selector {
 public:
  HostSelector() : Selector(DeviceKind::kCpu) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

class GpuSelector final : public Selector {
 public:
  GpuSelector() : Selector(DeviceKind::kCuda) {}
  [[nodiscard]] Support supports(const Problem& problem) const override {
    const Selection& rule = problem.layer.selection;
    const bool plain = rule.stale == 0 && !rule.weighs_units();
    if (problem.step != StepPart::kSelect || plain) return Selector::supports(problem);
    return Support::no("no stale units, and no scores beside its lists");
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

}  // namespace attnbench::topk
