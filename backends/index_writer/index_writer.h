// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/common/part_backend.h"

/// Brings the index keys of a step's tokens to the cache of the indexer (StepPart::kIndexWrite), or
/// makes the compressed rows that they complete (StepPart::kCompress), in place of attention.
namespace attnbench::index_writer {

/// What `attnbench list backends` says of them, with and without nvcc.
[[nodiscard]] inline BackendInfo info_on(DeviceKind device, StepPart part) {
  const bool on_gpu = device == DeviceKind::kCuda, compresses = part == StepPart::kCompress;
  BackendInfo info;
  info.name = compresses ? "compressor" : "index_writer";
  if (on_gpu) info.name += "_cuda";
  info.version = "1";
  info.description =
      compresses ? "compressed rows: a softmax of gates over 128 tokens, or 8 that overlap, in f32"
                 : "rows of an indexer's cache: e4m3 with a scale of a power of two, or bf16; of "
                   "pools a softmax";
  info.index_format = "slots";
  info.device = device;
  if (on_gpu) info.cuda_graph = CudaGraphSupport::kAlways;
  info.updates_in_pipelines = on_gpu;
  info.padding_seq_len = 0;
  info.writes_index_keys = !compresses;
  info.compresses = compresses;
  return info;
}

class RowMaker : public PartBackend {
 public:
  RowMaker(DeviceKind device, StepPart part)
      : PartBackend(part,
                    part == StepPart::kCompress ? "it makes compressed rows only"
                                                : "it writes index keys only",
                    info_on(device, part)) {}
};

/// On all threads of a CPU, a token at a time.
class HostWriter final : public RowMaker {
 public:
  HostWriter() : RowMaker(DeviceKind::kCpu, StepPart::kIndexWrite) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};
class HostCompressor final : public RowMaker {
 public:
  HostCompressor() : RowMaker(DeviceKind::kCpu, StepPart::kCompress) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

/// Both on a GPU, a block for each token. Rows have 1024 dims at most.
class GpuWriter final : public RowMaker {
 public:
  explicit GpuWriter(StepPart part) : RowMaker(DeviceKind::kCuda, part) {}
  [[nodiscard]] Support supports(const Problem& problem) const override {
    if (problem.step != StepPart::kCompress || problem.layer.head_dim_v <= 1024) {
      return RowMaker::supports(problem);
    }
    return Support::no("rows of 1024 dims at most, each a thread's");
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

}  // namespace attnbench::index_writer
