// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "lib/backend/support.h"
#include "lib/base/dtype.h"
#include "lib/device/device.h"
#include "lib/fixture/fixture.h"

namespace attnbench {

/// Where a backend rounds: decides the error bounds it is judged by.
struct Numerics {
  DType qk_input = DType::kF32;  ///< operands of q.k after any conversion
  DType p = DType::kF32;         ///< softmax weights before P.V
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
  Numerics numerics;
  bool deterministic = true;  ///< promises bitwise equal repeats; a differing repeat is INCORRECT
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

 private:
  Device* device_;
  std::unique_ptr<Buffer> buffer_;
};

/// One way to compute attention: builds the index format its kernels want, picks a kernel, launches
/// it. forward() allocates nothing, never synchronises, uses only the given stream and keeps its
/// workspace pointers stable. The CUDA-graph methods join with the first backend that can be
/// captured.
class AttentionBackend {
 public:
  virtual ~AttentionBackend() = default;

  [[nodiscard]] virtual const BackendInfo& info() const noexcept = 0;
  [[nodiscard]] virtual Support supports(const Case& c, const Device& device) const = 0;

  /// Plans one batch: host work, may allocate and synchronise. Timed apart from forward().
  virtual void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                                     Workspace& workspace) = 0;

  /// Computes io.out and io.lse for the batch planned last. Idle batches return at once.
  void forward(const AttentionIo& io, Stream& stream);

 protected:
  virtual void forward_decode(const AttentionIo& io, Stream& stream) = 0;
  virtual void forward_extend(const AttentionIo& io, Stream& stream) = 0;
};

}  // namespace attnbench
