// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "lib/backend/attention_backend.h"
#include "lib/base/error.h"

namespace attnbench {

/// Reads the whole KV pool on a GPU and computes nothing: as short as attention can be, and known
/// to the byte. Reads are what it was planned for; other inputs are a failure.
class PoolReader final : public AttentionBackend {
 public:
  PoolReader() {
    info_.name = "pool_reader";
    info_.version = "1";
    info_.device = DeviceKind::kCuda;
    info_.cuda_graph = CudaGraphSupport::kUniformBatch;
  }
  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case&, const Device&) const override {
    return Support::yes();
  }
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer&,
                             Workspace& workspace) override {
    planned_ = &batch;
    device_ = &workspace.device();
  }

 private:
  void forward_decode(const AttentionIo& io, Stream& stream) override {
    expects(io.batch == planned_, "planned for another batch");
    const KvPool& pool = *io.batch->token_to_kv_pool;
    const auto bytes_of = [&](std::int64_t page_stride) {
      return static_cast<std::size_t>(pool.num_pages * page_stride * size_bytes(pool.dtype));
    };
    device_->touch(stream, std::span<const std::byte>(pool.k, bytes_of(pool.page_stride_k)));
    device_->touch(stream, std::span<const std::byte>(pool.v, bytes_of(pool.page_stride_v)));
  }
  void forward_extend(const AttentionIo& io, Stream& stream) override {
    forward_decode(io, stream);
  }

  BackendInfo info_;
  const ForwardBatch* planned_ = nullptr;
  Device* device_ = nullptr;
};

}  // namespace attnbench
