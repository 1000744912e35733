// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cost/index_write_cost.h"

#include "lib/base/count.h"
#include "lib/base/dtype.h"
#include "lib/batch/indexer_inputs.h"

namespace attnbench {
namespace {

constexpr std::int64_t kNewKeyBytes = IndexerInputs::kDim * size_bytes(DType::kBF16);
constexpr std::int64_t kNewSlotBytes = 8;  // int64

Count new_keys(const Case& c) {
  Count keys = 0;
  for (const Request& r : c.requests) keys += r.new_keys();
  return keys;
}

}  // namespace

Cost index_write_cost(const Case& c) {
  const std::int64_t row_bytes =
      c.layer.selection.scores_in_bf16() ? kNewKeyBytes : IndexerInputs::kKeyBytes;
  const Count written = new_keys(c) * row_bytes;
  Cost cost;
  cost.kv_bytes_written = written.value();
  cost.kv_bytes_unique = cost.kv_bytes_streamed = cost.kv_bytes_written;
  cost.bytes_unique = cost.bytes_streamed =
      (new_keys(c) * (kNewKeyBytes + kNewSlotBytes) + written).value();
  return cost;
}

void add_index_write(const Case& c, Cost& cost) {
  const Cost alone = index_write_cost(c);
  const Count read = Count(alone.bytes_unique) + -alone.kv_bytes_written;
  cost.bytes_unique = (Count(cost.bytes_unique) + read).value();
  cost.bytes_streamed = (Count(cost.bytes_streamed) + read).value();
  cost.kv_bytes_written = (Count(cost.kv_bytes_written) + alone.kv_bytes_written).value();
}

}  // namespace attnbench
