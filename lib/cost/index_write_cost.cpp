// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cost/index_write_cost.h"

#include "lib/base/count.h"
#include "lib/base/dtype.h"
#include "lib/contents/pool_shape.h"
#include "lib/parts/pool_write_part.h"

namespace attnbench {
namespace {

constexpr std::int64_t kNewSlotBytes = 8;  // int64

/// What is read, and what is written to the cache and, of pools, to the ring.
struct IndexWriteBytes {
  Count read = 0, to_cache = 0, to_ring = 0;
};

/// Each pool that is closed has a row, from the step's own keys and from those that waited.
IndexWriteBytes bytes_of_pools(const Case& c) {
  const PoolShape shape = pool_shape(c);
  Count keys = 0, closed = 0, waited = 0, waiting = 0;
  for (const Request& r : c.requests) {
    const NewPoolKeys of = new_pool_keys(c, r);
    keys += of.end - of.first;
    closed += of.closed_pools();
    if (of.closed_pools() > 0) waited += of.waiting();
    waiting += of.end - of.first_waiting;
  }
  const Count apes = closed.value() > 0 ? shape.keys : 0;
  return {.read = keys * (shape.ring_row_bytes() + 2 * kNewSlotBytes) +
                  waited * shape.ring_row_bytes() +
                  closed * static_cast<std::int64_t>(sizeof(WaitingKeys)) +
                  apes * shape.columns() * size_bytes(DType::kF32),
          .to_cache = closed * (shape.row_bytes() + shape.scale_bytes()),
          .to_ring = waiting * shape.ring_row_bytes()};
}

IndexWriteBytes bytes_of(const Case& c) {
  const PoolShape shape = pool_shape(c);
  if (shape.waits()) return bytes_of_pools(c);
  Count keys = 0;
  for (const Request& r : c.requests) keys += r.new_keys();
  return {.read = keys * (shape.key_bytes() + kNewSlotBytes),
          .to_cache = keys * (shape.row_bytes() + shape.scale_bytes())};
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
