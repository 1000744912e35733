// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backends/paged_fa/plan.h"
#include "lib/backend/attention_backend.h"

namespace attnbench {

/// Attention on a GPU through a page table, after SGLang's and vLLM's FlashAttention backends:
/// ragged queries (cu_seqlens_q) over pages of any size (page_table, cache_seqlens), prompts and
/// decodes alike.
class PagedFaBackend final : public AttentionBackend {
 public:
  PagedFaBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case& c, const Device& device) const override;
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) override;

 protected:
  void forward_decode(const AttentionIo& io, Stream& stream) override { run(io, stream); }
  void forward_extend(const AttentionIo& io, Stream& stream) override { run(io, stream); }

 private:
  void run(const AttentionIo& io, Stream& stream) const;

  BackendInfo info_;
  PagedFaParams plan_;  ///< what planning decides; run() adds the tensors
  std::vector<PagedFaPlan::Launch> launches_;
};

}  // namespace attnbench
