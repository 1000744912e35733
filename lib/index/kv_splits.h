// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attnbench {

// How the keys of a decode are cut into pieces that run in parallel. Two rules for Triton's
// num_kv_splits are in use.

/// What rule (a) knows of the launch.
struct KvSplitLaunch {
  std::int64_t heads_q = 0;
  std::int64_t heads_kv = 0;
  std::int64_t max_splits = 8;
  std::int64_t multiprocessors = 0;
  std::int64_t queries_per_request = 1;  ///< branches of a draft decode (topk)
};
/// (a) By the number of multiprocessors (SGLang's get_num_kv_splits_triton). kv_lens >= 1.
[[nodiscard]] std::vector<std::int32_t> dynamic_kv_splits(std::span<const std::int32_t> kv_lens,
                                                          const KvSplitLaunch& launch);

/// (b) One split per `tile` keys whatever the batch: SGLang's deterministic mode.
[[nodiscard]] std::int64_t deterministic_kv_splits(std::int64_t kv_len, std::int64_t tile = 256);

/// Keys per split of the Triton decode kernel: kv_len / splits, rounded up to 32 (its block). Split
/// i covers [i * chunk, min((i + 1) * chunk, kv_len)), and may be empty.
[[nodiscard]] std::int64_t kv_split_chunk(std::int64_t kv_len, std::int64_t splits);
/// Keys in each of the splits.
[[nodiscard]] std::vector<std::int64_t> kv_split_sizes(std::int64_t kv_len, std::int64_t splits);

/// FlashInfer's decode plan (scheduler.cuh, PartitionPagedKVCacheBinarySearchMinNumPagePerBatch).
struct DecodePlan {
  bool split = false;
  std::int64_t chunk_pages = 0;      ///< pages per piece
  std::vector<std::int64_t> chunks;  ///< [B] pieces per request, at least 1
};
/// The smallest chunk with which all pieces of all requests, times grid_y, fit into max_grid; no
/// split when the batch fills the grid without one.
[[nodiscard]] DecodePlan flashinfer_decode_plan(std::span<const std::int64_t> pages,
                                                std::int64_t grid_y, std::int64_t max_grid,
                                                std::int64_t page_size);

/// Arguments of FlashAttention 3's num_splits_heuristic (hopper/heuristics.h).
struct Fa3SplitInput {
  std::int64_t total_m_blocks = 0;  ///< batch * heads * m_blocks
  std::int64_t multiprocessors = 0;
  std::int64_t n_blocks = 0;
  std::int64_t m_blocks = 1;
  std::int64_t kv_head_bytes = 0;
  bool causal_or_local = true;
  std::int64_t max_splits = 128;
};
/// The fewest splits that reach 85 % of the best wave efficiency.
[[nodiscard]] std::int64_t fa3_num_splits(const Fa3SplitInput& input);

}  // namespace attnbench
