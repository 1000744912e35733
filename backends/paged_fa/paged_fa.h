// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backends/common/cuda/draft_tree.h"
#include "backends/paged_fa/plan.h"
#include "lib/backend/attention_backend.h"
#include "lib/backend/cuda_graph_limits.h"

namespace attnbench {

/// Attention on a GPU through a page table, after SGLang's and vLLM's FlashAttention backends:
/// ragged queries (cu_seqlens_q) over pages of any size (page_table, cache_seqlens), prompts and
/// decodes alike.
class PagedFaBackend final : public AttentionBackend {
 public:
  PagedFaBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case& c, const Device& device) const override;
  [[nodiscard]] Numerics numerics(const Case& c) const override;
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) override;

  void init_cuda_graph_state(int max_bs, int max_num_tokens) override;
  void init_forward_metadata_capture_cuda_graph(const ForwardBatch& batch,
                                                const AttentionLayer& layer,
                                                Workspace& workspace) override;
  void init_forward_metadata_replay_cuda_graph(const ForwardBatch& batch,
                                               const AttentionLayer& layer,
                                               Stream& stream) override;
  /// Padding requests have no work: nothing is read for them, and nothing written.
  [[nodiscard]] int cuda_graph_seq_len_fill_value() const noexcept override { return 0; }

 protected:
  void forward_decode(const AttentionIo& io, Stream& stream) override { run(io, stream); }
  void forward_extend(const AttentionIo& io, Stream& stream) override { run(io, stream); }

 private:
  /// What planning decides; run() adds the tensors.
  struct Planned {
    PagedFaParams params;
    std::vector<PagedFaPlan::Launch> launches;
    // Where it lies, in device memory.
    std::byte* memory = nullptr;  ///< what the host writes, all of it side by side
    std::int64_t requests = 0;    ///< that there is room for
    std::int64_t counters = 0;
    std::int32_t* page_table = nullptr;
  };

  /// Where plans go that need `room` for the work of `requests` sequences on up to `width` pages.
  /// `memory` may hold more already.
  [[nodiscard]] static Planned place(Workspace& workspace, DeviceRoom& memory,
                                     const PagedFaRoom& room, std::int64_t requests,
                                     std::int64_t width, const AttentionLayer& layer);
  /// Copies `plan` to where now_ says, then empty items up to `num_items`, and finds the pages.
  void enqueue(PagedFaPlan plan, std::int64_t num_items, const ForwardBatch& batch, void* stream);
  void enqueue_in_graph(const ForwardBatch& batch, const AttentionLayer& layer, void* stream);
  void prepare(const AttentionLayer& layer, DType stored) const;
  void run(const AttentionIo& io, Stream& stream) const;

  BackendInfo info_;
  Planned now_;

  // Of CUDA graphs: one memory for all of them.
  CudaGraphLimits limits_;
  int multiprocessors_ = 0;
  Planned graph_;
  GraphDraftTree graph_tree_;
};

}  // namespace attnbench
