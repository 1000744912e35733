// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/upload_step_indices.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/index/csr.h"

namespace attnbench {
namespace {

/// copy(to, from, bytes) brings an array to the device.
template <class Copy>
DeviceBatch made_indices(const ForwardBatch& made, const ForwardBatch& whole, std::string_view name,
                         PlanMemory& memory, const Copy& copy) {
  const auto copied = [&](std::string_view array, std::span<const std::int32_t> values) {
    std::byte* const to =
        memory.reserve_indices(fmt::format("{} {}", name, array), values.size_bytes());
    copy(to, values.data(), values.size_bytes());
    return static_cast<const std::int32_t*>(static_cast<const void*>(to));
  };
  DeviceBatch device = device_batch_of(whole);
  device.block_table = nullptr;
  device.block_table_width = 0;
  if (const ReqToTokenPool& table = *made.req_to_token_pool; &table != whole.req_to_token_pool) {
    // Its rows follow one another.
    const std::int64_t slots = table.rows() * table.max_context_len();
    device.req_to_token = copied("req_to_token", {table.row(0).data(), to_size(slots)});
    device.req_to_token_stride = table.max_context_len();
  }
  std::vector<std::int32_t> kv_lens;
  for (std::int64_t r = 0; r < made.batch_size; ++r) kv_lens.push_back(narrow_i32(made.kv_len(r)));
  device.req_pool_indices = copied("req_pool_indices", made.req_pool_indices);
  device.kv_lens = copied("kv_lens", kv_lens);
  device.qo_indptr = copied("qo_indptr", qo_indptr(made));
  return device;
}

}  // namespace

DeviceBatch upload_step_indices(const ForwardBatch& made, const ForwardBatch& whole,
                                std::string_view name, PlanMemory& memory) {
  return made_indices(made, whole, name, memory,
                      [&](std::byte* to, const void* from, std::size_t bytes) {
                        memory.device().copy_from_host(to, from, bytes);
                      });
}

DeviceBatch upload_step_indices(const ForwardBatch& made, const ForwardBatch& whole,
                                std::string_view name, PlanMemory& memory, Stream& stream) {
  return made_indices(made, whole, name, memory,
                      [&](std::byte* to, const void* from, std::size_t bytes) {
                        memory.device().enqueue_copy_from_host(stream, to, from, bytes);
                      });
}

}  // namespace attnbench
