// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/early_launch.cuh"
#include "backends/common/tiles/params.h"

namespace attnbench::tiles {

/// An item of the work list, as KV head `kv_head` has it. Where there are lists, waits for the
/// kernel that makes them, behind which this one was launched early.
__device__ __forceinline__ Item item_at(const Params& p, const Item* at, int kv_head = 0) {
  Item item = *at;
  item.kv_head = kv_head;
  if (p.list_lengths != nullptr) cuda::await_previous();
  if (item.list < 0) return item;
  if (p.lists_by_kv_head) item.list += kv_head;
  item.key_end = max(item.key_begin, min(item.key_end, p.list_lengths[item.list]));
  return item;
}

/// The row of a block table in which its keys are.
__device__ __forceinline__ int table_row(const Item& item) {
  return item.list < 0 ? item.request : item.list;
}

}  // namespace attnbench::tiles
