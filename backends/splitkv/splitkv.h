// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/draft_tree.h"
#include "backends/splitkv/launch.h"
#include "backends/splitkv/plan.h"
#include "lib/backend/attention_backend.h"
#include "lib/backend/cuda_graph_limits.h"

namespace attnbench {

/// Split-KV attention on a GPU through kv_indptr and kv_indices, after SGLang's Triton backend: the
/// keys of a few query rows are cut into pieces, whose results are merged by their LSEs. Extend
/// runs over prefix and new tokens alike, both read from the pool.
class SplitKvBackend final : public AttentionBackend {
 public:
  explicit SplitKvBackend(SplitRule rule = SplitRule::kFill);

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
    bool many_rows = false;
    SplitKvParams params;
    // Where the rest of the plan lies, in device memory.
    std::byte* counters = nullptr;  ///< items follow
    std::int64_t num_counters = 0;
    std::int32_t* kv_indptr = nullptr;
    std::int32_t* kv_last_page_len = nullptr;
    std::int32_t* kv_indices = nullptr;
  };

  /// Where plans go that need `room` for the work and `keys` token slots of `requests` requests.
  /// `memory` may hold more already.
  [[nodiscard]] static Planned place(Workspace& workspace, DeviceRoom& memory,
                                     const SplitKvRoom& room, std::int64_t requests,
                                     std::int64_t keys, const AttentionLayer& layer);
  /// Copies `plan` to where now_ says, then empty items up to `num_items`, and finds the slots.
  void enqueue(SplitKvPlan plan, std::int64_t num_items, const ForwardBatch& batch, void* stream);
  void enqueue_in_graph(const ForwardBatch& batch, const AttentionLayer& layer, void* stream);
  void prepare(const AttentionLayer& layer, DType stored) const;
  void run(const AttentionIo& io, Stream& stream) const;

  BackendInfo info_;
  SplitRule rule_;

  Planned now_;

  // Of CUDA graphs: one memory for all of them.
  CudaGraphLimits limits_;
  int multiprocessors_ = 0;
  Planned graph_;
  GraphDraftTree graph_tree_;
};

}  // namespace attnbench
