// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "lib/backend/testing/stub_backend.h"

namespace attnbench {

/// Reads the whole KV pool on a GPU and computes nothing: as short as attention can be, and known
/// to the byte.
class PoolReader final : public StubBackend {
 public:
  PoolReader() : StubBackend("pool_reader") {
    info_.version = "1";
    info_.device = DeviceKind::kCuda;
    info_.cuda_graph = CudaGraphSupport::kUniformBatch;
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override {
    return std::make_unique<FunctionPlan>([pool = batch.token_to_kv_pool,
                                           device = &memory.device()](Stream& stream) {
      const auto bytes_of = [&](std::int64_t page_stride) {
        return static_cast<std::size_t>(pool->num_pages * page_stride * size_bytes(pool->dtype));
      };
      const std::span<const std::byte> parts[] = {{pool->k, bytes_of(pool->page_stride_k)},
                                                  {pool->v, bytes_of(pool->page_stride_v)}};
      device->touch(stream, parts);
    });
  }
};

}  // namespace attnbench
