// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cost/index_write_cost.h"

#include "lib/base/count.h"
#include "lib/base/dtype.h"
#include "lib/batch/indexer_inputs.h"
#include "lib/parts/pool_write_part.h"

namespace attnbench {
namespace {

constexpr std::int64_t kNewKeyBytes = IndexerInputs::kDim * size_bytes(DType::kBF16);
constexpr std::int64_t kNewSlotBytes = 8;  // int64

/// What is read, and what is written to the cache and, of pools, to the ring.
struct IndexWriteBytes {
  Count read = 0, to_cache = 0, to_ring = 0;
};

/// Each pool that is closed has a row, from the step's own keys and from those that waited.
IndexWriteBytes bytes_of_pools(const Case& c) {
  Count keys = 0, closed = 0, waited = 0, waiting = 0;
  for (const Request& r : c.requests) {
    const NewPoolKeys of = new_pool_keys(c, r);
    keys += of.end - of.first;
    closed += of.closed_pools();
    if (of.closed_pools() > 0) waited += of.waiting();
    waiting += of.end - of.first_waiting;
  }
  const Count apes = closed.value() > 0 ? c.layer.selection.pool() : 0;
  return {.read = keys * (kRingRowBytes + 2 * kNewSlotBytes) + waited * kRingRowBytes +
                  closed * static_cast<std::int64_t>(sizeof(WaitingKeys)) +
                  apes * IndexerInputs::kDim * size_bytes(DType::kF32),
          .to_cache = closed * IndexerInputs::kKeyBytes,
          .to_ring = waiting * kRingRowBytes};
}

IndexWriteBytes bytes_of(const Case& c) {
  if (c.layer.selection.pool() > 1) return bytes_of_pools(c);
  Count keys = 0;
  for (const Request& r : c.requests) keys += r.new_keys();
  const std::int64_t row_bytes =
      c.layer.selection.scores_in_bf16() ? kNewKeyBytes : IndexerInputs::kKeyBytes;
  return {.read = keys * (kNewKeyBytes + kNewSlotBytes), .to_cache = keys * row_bytes};
}

}  // namespace

Cost index_write_cost(const Case& c) {
  const IndexWriteBytes bytes = bytes_of(c);
  Cost cost;
  cost.kv_bytes_written = (bytes.to_cache + bytes.to_ring).value();
  cost.kv_bytes_unique = cost.kv_bytes_streamed = cost.kv_bytes_written;
  cost.bytes_unique = cost.bytes_streamed = (bytes.read + cost.kv_bytes_written).value();
  return cost;
}

void add_index_write(const Case& c, Cost& cost) {
  const IndexWriteBytes bytes = bytes_of(c);
  const Count moved = bytes.read + bytes.to_ring;
  cost.bytes_unique = (Count(cost.bytes_unique) + moved).value();
  cost.bytes_streamed = (Count(cost.bytes_streamed) + moved).value();
  cost.kv_bytes_written = (Count(cost.kv_bytes_written) + bytes.to_cache + bytes.to_ring).value();
}

}  // namespace attnbench
