// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lib/backend/cuda_graph_support.h"
#include "lib/backend/support.h"
#include "lib/base/dtype.h"
#include "lib/device/device.h"
#include "lib/fixture/fixture.h"

namespace attnbench {

/// Where a backend rounds: decides the error bounds it is judged by. Operands are rounded as they
/// are stored; k_scale and v_scale join sums in f32.
struct Numerics {
  DType qk_input = DType::kF32;  ///< operands of q.k after any conversion
  DType p = DType::kF32;         ///< softmax weights before P.V, and V beside them
  DType accumulator = DType::kF32;
  DType partial_out = DType::kF32;  ///< split results between stages
  int max_splits = 1;
};

/// What a backend is; constant.
struct BackendInfo {
  std::string name;  ///< registered name, "cpu_flash"
  std::string version;
  std::string description;   ///< one line for `attnbench list backends`
  std::string index_format;  ///< "kv_indptr/kv_indices", "page_table", …
  DeviceKind device = DeviceKind::kCpu;
  bool deterministic = true;  ///< promises bitwise equal repeats; a differing repeat is INCORRECT
  CudaGraphSupport cuda_graph = CudaGraphSupport::kNever;
  /// Takes part where no backend is named. A variant, which is there to be compared with its base,
  /// does not: "splitkv:dynamic".
  bool by_default = true;
};

/// Scratch memory that grows while planning and keeps its address between plan and forward.
class Workspace {
 public:
  explicit Workspace(Device& device) : device_(&device) {}

  /// At least `bytes` of device memory, 256-byte aligned, filled with 0xFF when it is new. Called
  /// in init_forward_metadata only: forward never allocates.
  [[nodiscard]] std::byte* reserve(std::size_t bytes);
  /// Where the memory is: copies plans into it.
  [[nodiscard]] Device& device() const { return *device_; }
  [[nodiscard]] bool guards_intact() const { return !buffer_ || buffer_->guards_intact(); }
  /// What was reserved; addresses of the device. Empty before.
  [[nodiscard]] std::span<const std::byte> memory() const {
    return buffer_ ? std::span<const std::byte>(buffer_->data(), buffer_->size())
                   : std::span<const std::byte>();
  }

 private:
  Device* device_;
  std::unique_ptr<Buffer> buffer_;
};

/// One way to compute attention: builds the index format its kernels want, picks a kernel, launches
/// it. forward() allocates nothing, never synchronises, uses only the given stream and keeps its
/// workspace pointers stable.
class AttentionBackend {
 public:
  virtual ~AttentionBackend() = default;

  [[nodiscard]] virtual const BackendInfo& info() const noexcept = 0;
  [[nodiscard]] virtual Support supports(const Case& c, const Device& device) const = 0;
  /// Where it rounds in this case. f32 throughout, unless it says otherwise: the tightest bounds.
  [[nodiscard]] virtual Numerics numerics(const Case&) const { return {}; }

  /// Plans one batch: host work, may allocate and synchronise. Timed apart from forward().
  virtual void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                                     Workspace& workspace) = 0;

  /// Computes io.out and io.lse for the batch planned last. Idle batches return at once.
  void forward(const AttentionIo& io, Stream& stream);

  // CUDA graphs, by the names of SGLang's base_attn_backend.py. An engine records forward() once
  // per batch size and kind of step; before each replay it copies the step's tensors and indices to
  // where the recorded ones were, filled up by pad_for_cuda_graph(). What forward() launches after
  // a capture is the same for every batch of that size: grids have room for the most work, blocks
  // without any return at once. Backends whose info().cuda_graph is kNever throw InternalError.

  /// Makes room for batches of up to `max_bs` requests and `max_num_tokens` query tokens, the same
  /// number for each request. Once, before the first capture.
  virtual void init_cuda_graph_state(int max_bs, int max_num_tokens);

  /// Plans `batch` so that the next forward() can be recorded. May allocate and synchronise. All
  /// captures use one workspace, which serves nothing else and outlives the graphs.
  virtual void init_forward_metadata_capture_cuda_graph(const ForwardBatch& batch,
                                                        const AttentionLayer& layer,
                                                        Workspace& workspace);

  /// Plans `batch`, of the size and kind of one captured before, in the memory that its graph
  /// reads: what is enqueued on `stream` from now on sees it. Allocates nothing on the device.
  /// `batch.device_batch` is read on the stream, too.
  virtual void init_forward_metadata_replay_cuda_graph(const ForwardBatch& batch,
                                                       const AttentionLayer& layer, Stream& stream);

  /// seq_len of padding requests: 0, or 1 where a kernel needs a key. What they leave in their rows
  /// of the outputs is the backend's affair; nobody reads those.
  [[nodiscard]] virtual int cuda_graph_seq_len_fill_value() const noexcept { return 1; }

 protected:
  virtual void forward_decode(const AttentionIo& io, Stream& stream) = 0;
  virtual void forward_extend(const AttentionIo& io, Stream& stream) = 0;
};

}  // namespace attnbench
