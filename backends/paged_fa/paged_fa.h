// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "backends/common/kernel_support.h"
#include "lib/backend/backend.h"

namespace attnbench::paged_fa {

/// What `attnbench list backends` says, with and without nvcc.
[[nodiscard]] inline BackendInfo info() {
  BackendInfo info;
  info.name = "paged_fa";
  info.version = "1";
  info.description = "FlashAttention's design: tensor-core tiles over pages, varlen and KV cache";
  info.index_format = "page_table, cache_seqlens, cu_seqlens_q";
  info.device = DeviceKind::kCuda;
  info.cuda_graph = CudaGraphSupport::kUniformBatch;
  // Padding requests have no work: nothing is read for them, and nothing written.
  info.padding_seq_len = 0;
  info.writes_fp8_outputs = true;
  return info;
}

/// Attention on a GPU through a page table, after SGLang's and vLLM's FlashAttention backends:
/// ragged queries (cu_seqlens_q) over pages of any size (page_table, cache_seqlens), or over ragged
/// keys, prompts and decodes alike.
class PagedFaBackend final : public Backend {
 public:
  PagedFaBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override {
    return layouts_of_whole_rows(with_tensor_scale(problem));
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
};

}  // namespace attnbench::paged_fa
