// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lib/backend/backend.h"

/// Selects the keys of the highest scores (StepPart::kSelect), in place of attention.
namespace attnbench::topk {

/// What both backends of this folder have in common. No cache is read, so that any is taken.
class Selector : public Backend {
 public:
  explicit Selector(BackendInfo info) : info_(std::move(info)) {}

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return problem.step == StepPart::kSelect ? Support::yes() : Support::no("it selects keys only");
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
  info.padding_seq_len = 0;
  info.selects_keys = true;
  return info;
}

/// On all threads of a CPU.
class HostSelector final : public Selector {
 public:
  HostSelector() : Selector(info_on(DeviceKind::kCpu)) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

class GpuSelector final : public Selector {
 public:
  GpuSelector() : Selector(info_on(DeviceKind::kCuda)) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

}  // namespace attnbench::topk
