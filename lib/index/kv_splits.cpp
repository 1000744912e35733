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
  const std::int64_t grid =
      static_cast<std::int64_t>(kv_lens.size()) * launch.queries_per_request * head_blocks;
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

std::vector<std::int64_t> kv_split_sizes(std::int64_t kv_len, std::int64_t splits) {
  const std::int64_t chunk = kv_split_chunk(kv_len, splits);
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < splits; ++i) {
    sizes.push_back(std::clamp<std::int64_t>(kv_len - i * chunk, 0, chunk));
  }
  return sizes;
}

DecodePlan flashinfer_decode_plan(std::span<const std::int64_t> pages, std::int64_t grid_y,
                                  std::int64_t max_grid, std::int64_t page_size) {
  DecodePlan plan;
  const auto requests = static_cast<std::int64_t>(pages.size());
  const std::int64_t most = pages.empty() ? 0 : std::ranges::max(pages);
  if (requests * grid_y >= max_grid) {
    plan.chunk_pages = most;
    plan.chunks.assign(pages.size(), 1);
    return plan;
  }
  std::int64_t low = std::max<std::int64_t>(128 / page_size, 1);  // no piece below 128 tokens
  std::int64_t high = most;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    std::int64_t pieces = 0;
    for (const std::int64_t count : pages) pieces += ceil_div(count, middle);
    if (pieces * grid_y > max_grid) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  plan.chunk_pages = low;
  for (const std::int64_t count : pages) {
    plan.chunks.push_back(ceil_div(std::max<std::int64_t>(count, 1), low));
    plan.split = plan.split || plan.chunks.back() > 1;
  }
  return plan;
}

std::int64_t fa3_num_splits(const Fa3SplitInput& input) {
  const auto multiprocessors = static_cast<float>(input.multiprocessors);
  if (static_cast<float>(input.total_m_blocks) >= 0.8f * multiprocessors) {
    // One KV head beyond the L2 cache, read by many blocks of queries: pieces that fit.
    constexpr std::int64_t kL2Bytes = 50 * 1024 * 1024;
    if (input.kv_head_bytes > kL2Bytes && input.m_blocks >= input.multiprocessors * 2 &&
        !input.causal_or_local) {
      return std::min(ceil_div(input.kv_head_bytes, kL2Bytes), input.max_splits);
    }
    return 1;
  }
  if (input.n_blocks <= 4) return 1;
  const std::int64_t max_splits =
      std::min({input.max_splits, input.multiprocessors, input.n_blocks});
  std::vector<float> efficiency;
  for (std::int64_t splits = 1; splits <= max_splits; ++splits) {
    const float waves = static_cast<float>(input.total_m_blocks * splits) / multiprocessors;
    efficiency.push_back(waves / std::ceil(waves));
  }
  const double wanted = 0.85 * static_cast<double>(std::ranges::max(efficiency));
  const auto first = std::ranges::find_if(
      efficiency, [&](float value) { return static_cast<double>(value) >= wanted; });
  return first - efficiency.begin() + 1;
}

}  // namespace attnbench
