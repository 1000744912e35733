// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lib/batch/device_batch.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {

/// The index tensors of a batch in host memory: the batch's own arrays where it has them, so that
/// a large request table is not copied, and those that follow from them.
class HostIndices {
 public:
  /// The batch, which has its req_to_token_pool, outlives this object and keeps its arrays where
  /// they are. `page_size` is the KV pool's. A batch with a state pool has no request table.
  HostIndices(const ForwardBatch& batch, std::int64_t page_size);
  HostIndices(const HostIndices&) = delete;  // batch() points into it
  HostIndices& operator=(const HostIndices&) = delete;

  [[nodiscard]] const DeviceBatch& batch() const { return batch_; }
  struct Named {
    std::string_view name;
    std::span<const std::int32_t> values;
  };
  /// The arrays that are not the batch's own.
  [[nodiscard]] std::vector<Named> made() const {
    return {{"kv_lens", kv_lens_}, {"qo_indptr", qo_indptr_}, {"block_table", block_table_}};
  }

 private:
  std::vector<std::int32_t> kv_lens_, qo_indptr_, block_table_;
  DeviceBatch batch_;
};

}  // namespace attnbench
