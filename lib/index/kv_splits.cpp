// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/kv_splits.h"

#include <algorithm>
#include <cmath>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench {
namespace {

// Of FlashInfer 0.6.9: min_kv_chunk_size and num_blocks_per_sm in attention/scheduler.cuh.
constexpr std::int64_t kFlashInferChunkTokens = 128;
constexpr std::int64_t kFlashInferBlocksPerMultiprocessor = 2;

/// Query rows of a block of FlashInfer's fa2 kernel from Ampere on, where the queries of `group`
/// heads share a KV head (FA2DetermineCtaTileQ of its utils.cuh).
std::int64_t flashinfer_tile_q(std::int64_t group, std::int64_t head_dim_v) {
  if (group > 64 && head_dim_v < 256) return 128;
  return group > 16 ? 64 : 16;
}

}  // namespace

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
  const std::int64_t head_blocks = ceil_div(launch.heads_q, std::min<std::int64_t>(16, group));
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

std::int64_t described_kv_splits(std::int64_t kv_len) {
  return std::clamp<std::int64_t>(ceil_div(kv_len, 512), 1, 8);
}

std::int64_t kv_split_chunk(std::int64_t kv_len, std::int64_t splits) {
  return round_up(ceil_div(kv_len, splits), 32);
}

std::int64_t flashinfer_chunk_pages(std::span<const std::int32_t> kv_lens,
                                    const FlashInferDecode& decode) {
  const std::int64_t group = decode.heads_q / decode.heads_kv;
  const std::int64_t tile_q = flashinfer_tile_q(group, decode.head_dim_v);
  std::vector<std::int64_t> pages;
  for (const std::int32_t len : kv_lens) {
    // A window counts as if each row of the tile were one token further on.
    const std::int64_t seen =
        decode.sliding_window_size < 0 ? len : decode.sliding_window_size + tile_q;
    // A request without keys takes a block too.
    pages.push_back(
        std::max<std::int64_t>(ceil_div(std::min<std::int64_t>(len, seen), decode.page_size), 1));
  }
  const std::int64_t blocks_per_chunk = decode.heads_kv * ceil_div(group, tile_q);
  const std::int64_t most_blocks = kFlashInferBlocksPerMultiprocessor * decode.multiprocessors;
  const auto run_at_once = [&](std::int64_t chunk) {
    std::int64_t blocks = 0;
    for (const std::int64_t count : pages) blocks += ceil_div(count, chunk) * blocks_per_chunk;
    return blocks <= most_blocks;
  };
  // Longer chunks are never more: the fewest pages are found by halving.
  std::int64_t fewest = std::max<std::int64_t>(kFlashInferChunkTokens / decode.page_size, 1);
  std::int64_t enough = pages.empty() ? fewest : std::ranges::max(pages);
  while (fewest < enough) {
    const std::int64_t middle = (fewest + enough) / 2;
    if (run_at_once(middle)) {
      enough = middle;
    } else {
      fewest = middle + 1;
    }
  }
  return fewest;
}

}  // namespace attnbench
