// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/common/part_backend.h"

/// Brings the index keys of a step's tokens to the cache of the indexer (StepPart::kIndexWrite), in
/// place of attention.
namespace attnbench::index_writer {

[[nodiscard]] inline BackendInfo info() {
  BackendInfo info;
  info.name = "index_writer";
  info.version = "1";
  info.description = "rows of an indexer's cache: e4m3 with a scale of a power of two, or bf16";
  info.index_format = "slots";
  info.padding_seq_len = 0;
  info.writes_index_keys = true;
  return info;
}

/// On all threads of a CPU, a token at a time.
class HostWriter final : public PartBackend {
 public:
  HostWriter()
      : PartBackend(StepPart::kIndexWrite, "it writes index keys only", index_writer::info()) {}
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;
};

}  // namespace attnbench::index_writer
