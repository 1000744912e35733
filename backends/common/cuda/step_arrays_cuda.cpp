// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/cuda/step_arrays.h"

#include <algorithm>

#include "backends/common/cuda/planning.h"
#include "lib/base/int_math.h"
#include "lib/index/cuda/index_builders.cuh"

namespace attnbench {
namespace {

/// Requests, keys of all together and of the longest, for which there has to be room.
struct Most {
  std::int64_t requests = 0, keys = 0, longest = 0;
};

Most most_of(const ForwardBatch& batch) {
  const Problem& problem = *batch.problem;
  if (problem.recorded) {
    const StepLimits& limits = problem.limits;
    return {limits.requests, limits.requests * limits.kv_len, limits.kv_len};
  }
  Most most{batch.batch_size};
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    most.keys += batch.kv_len(r);
    most.longest = std::max(most.longest, batch.kv_len(r));
  }
  return most;
}

}  // namespace

TokenSlots::TokenSlots(const ForwardBatch& batch, DeviceRoom& room) {
  const Most most = most_of(batch);
  kv_indptr_at_ = room.add<std::int32_t>(most.requests + 1);
  kv_last_page_len_at_ = room.add<std::int32_t>(most.requests);
  kv_indices_at_ = room.add<std::int32_t>(most.keys);
}

void TokenSlots::place(std::byte* memory) {
  kv_indptr_ = kv_indptr_at_.in(memory);
  kv_last_page_len_ = kv_last_page_len_at_.in(memory);
  kv_indices_ = kv_indices_at_.in(memory);
}

void TokenSlots::enqueue(const ForwardBatch& batch, void* stream) const {
  enqueue_csr(device_batch_of(batch), batch.batch_size, 1,
              {kv_indptr_, kv_indices_, kv_last_page_len_}, static_cast<cudaStream_t>(stream));
}

StepPageTable::StepPageTable(const ForwardBatch& batch, DeviceRoom& room, std::int32_t pad)
    : pad_(pad) {
  const Most most = most_of(batch);
  const std::int64_t page_size = batch.token_to_kv_pool->page_size;
  width_ = ceil_div(most.longest, page_size) +
           ceil_div(batch.problem->layer.compressed_rows(most.longest), page_size);
  pages_at_ = room.add<std::int32_t>(most.requests * width_);
}

void StepPageTable::place(std::byte* memory) { pages_ = pages_at_.in(memory); }

void StepPageTable::enqueue(const ForwardBatch& batch, void* stream) const {
  enqueue_page_table(device_batch_of(batch), batch.batch_size, batch.token_to_kv_pool->page_size,
                     width_, pad_, pages_, static_cast<cudaStream_t>(stream),
                     batch.problem->layer.compress_ratio);
}

}  // namespace attnbench
