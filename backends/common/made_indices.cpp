// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/made_indices.h"

#include <fmt/format.h>

#include "lib/base/int_math.h"
#include "lib/index/host_indices.h"

namespace attnbench {

DeviceBatch copy_made_indices(const ForwardBatch& made, const DeviceBatch& whole,
                              std::string_view name, PlanMemory& memory) {
  const HostIndices indices(made, made.token_to_kv_pool->page_size);
  const DeviceBatch& host = indices.batch();
  const auto copied = [&](std::string_view array, const std::int32_t* values, std::int64_t count) {
    const std::size_t bytes = to_size(count) * sizeof(std::int32_t);
    std::byte* const to = memory.reserve_indices(fmt::format("{} {}", name, array), bytes);
    memory.device().copy_from_host(to, values, bytes);
    return static_cast<const std::int32_t*>(static_cast<const void*>(to));
  };
  const std::int64_t requests = made.batch_size;
  DeviceBatch device = whole;
  device.req_to_token = copied("req_to_token", host.req_to_token,
                               made.req_to_token_pool->rows() * host.req_to_token_stride);
  device.req_to_token_stride = host.req_to_token_stride;
  device.req_pool_indices = copied("req_pool_indices", host.req_pool_indices, requests);
  device.block_table = copied("block_table", host.block_table, requests * host.block_table_width);
  device.block_table_width = host.block_table_width;
  device.kv_lens = copied("kv_lens", host.kv_lens, requests);
  device.qo_indptr = copied("qo_indptr", host.qo_indptr, requests + 1);
  return device;
}

}  // namespace attnbench
