// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/draft_tree.h"
#include "backends/mla/params.h"
#include "backends/mla/plan.h"
#include "lib/backend/attention_backend.h"
#include "lib/backend/cuda_graph_limits.h"

namespace attnbench {

/// Absorbed multi-head latent attention on a GPU through a block table (decode, verify and extend
/// alike): one latent row per token serves every query head as key and as value.
class MlaBackend final : public AttentionBackend {
 public:
  /// Without `warpgroups` the kernels with mma.sync do everything, as on GPUs before Hopper.
  explicit MlaBackend(bool warpgroups = true);

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
    MlaTile tile = MlaTile::kFew;
    MlaParams params;
    // Where it lies, in device memory.
    std::byte* memory = nullptr;  ///< what the host writes, all of it side by side
    std::int64_t parts = 0;       ///< that there is room for, and merges
    std::int64_t merges = 0;
    std::int32_t* block_table = nullptr;
  };
  /// Where plans go that need `room` for the work of `requests` requests on up to `width` blocks.
  /// `memory` may hold more already.
  [[nodiscard]] static Planned place(Workspace& workspace, DeviceRoom& memory, const MlaRoom& room,
                                     std::int64_t requests, std::int64_t width);
  /// Copies `plan` to where now_ says, then empty items and merges up to those of `room`, and finds
  /// the blocks.
  void enqueue(MlaPlan plan, const MlaRoom& room, const ForwardBatch& batch, void* stream);
  void enqueue_in_graph(const ForwardBatch& batch, const AttentionLayer& layer, void* stream);
  void prepare(DType stored) const;
  void run(const AttentionIo& io, Stream& stream) const;

  /// For requests of up to `rows` rows.
  [[nodiscard]] MlaTile tile_for(std::int64_t rows, DType stored) const;
  [[nodiscard]] MlaTile tile_of(const ForwardBatch& batch, const AttentionLayer& layer) const;
  /// Of batches of `requests` requests with `q_len` query tokens each.
  [[nodiscard]] MlaRoom uniform_room(std::int64_t requests, std::int64_t q_len,
                                     const AttentionLayer& layer, DType stored) const;

  BackendInfo info_;
  bool warpgroups_;
  Planned now_;

  // Of CUDA graphs: one memory for all of them.
  CudaGraphLimits limits_;
  int multiprocessors_ = 0;
  Planned graph_;
  GraphDraftTree graph_tree_;
};

}  // namespace attnbench
