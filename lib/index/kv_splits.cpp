// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/kv_splits.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench {

std::vector<std::int32_t> dynamic_kv_splits(std::span<const std::int32_t> kv_lens,
                                            const KvSplitLaunch& launch) {
  if (kv_lens.empty()) return {};
  const std::int64_t longest = std::ranges::max(kv_lens);
  std::int64_t shortest = std::ranges::min(kv_lens);
  expects(shortest > 0, "the split rule divides by the shortest length");
  // Nearly equal lengths count as equal.
  if (longest * 8 < shortest * 10) shortest = longest;
  const std::int64_t splits_by_balance = std::min(ceil_div(longest, shortest), launch.max_splits);

  // The number of multiprocessors to fill grows with the logarithm of the length, so that splits
  // become more gradually. Single precision, as on the device.
  const float growth = std::max(std::log2(static_cast<float>(longest) / 64.0f), 1.0f);
  const auto cores = static_cast<std::int64_t>(static_cast<float>(launch.multiprocessors) * growth);
  const std::int64_t group = launch.heads_q / launch.heads_kv;
  const std::int64_t head_blocks =
      group == 1 ? launch.heads_q : ceil_div(launch.heads_q, std::min<std::int64_t>(16, group));
  const std::int64_t grid = static_cast<std::int64_t>(kv_lens.size()) * head_blocks;
  const std::int64_t splits_by_cores = std::min(ceil_div(cores, grid), launch.max_splits);

  const std::int64_t chunk_by_balance = ceil_div(longest, splits_by_balance);
  const std::int64_t chunk_by_cores = ceil_div(longest, splits_by_cores);
  std::vector<std::int32_t> splits;
  for (const std::int32_t len : kv_lens) {
    splits.push_back(
        narrow_i32(std::max(ceil_div(len, chunk_by_balance), ceil_div(len, chunk_by_cores))));
  }
  return splits;
}

std::int64_t deterministic_kv_splits(std::int64_t kv_len, std::int64_t tile) {
  return ceil_div(kv_len, tile);
}

std::int64_t kv_split_chunk(std::int64_t kv_len, std::int64_t splits) {
  return round_up(ceil_div(kv_len, splits), 32);
}

}  // namespace attnbench
