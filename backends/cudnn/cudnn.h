// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "lib/backend/backend.h"

namespace attnbench::cudnn {

/// What `attnbench list backends` says in every build; one that can run adds cuDNN's version.
[[nodiscard]] inline BackendInfo info() {
  BackendInfo info;
  info.name = "cudnn";
  info.version = "1";
  info.description = "cuDNN's scaled dot-product attention, called from C++: pages, ragged prompts";
  info.index_format = "page_table, seq_lens, ragged offsets";
  info.device = DeviceKind::kCuda;
  info.deterministic = false;  // its decode kernel was seen to give other bits in a second run
  // Of steps that engines record, those of a draft tree are refused, and no chain of drafts has
  // been recorded.
  info.cuda_graph = CudaGraphSupport::kUniformSingleTokenDecode;
  return info;
}

class PlanCache;

/// Why cuDNN cannot be called on this machine: its library is not found, or is older than 9.12.
/// Empty when it can.
[[nodiscard]] std::string absence();

/// NVIDIA's cuDNN through its graph API, in C (no Python, no frontend headers). The library is
/// loaded when the first such backend is made, so that a program runs where there is none.
class CudnnBackend final : public Backend {
 public:
  /// Throws EnvironmentError with absence().
  CudnnBackend();
  ~CudnnBackend() override;

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  /// The first plan of a shape builds cuDNN's own plan, which can take a second; later ones of
  /// this backend find it again. Throws a runtime_error with cuDNN's message where it has no
  /// kernel.
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
  std::unique_ptr<PlanCache> plans_;
};

}  // namespace attnbench::cudnn
