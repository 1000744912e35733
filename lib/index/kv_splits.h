// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attnbench {

// How the keys of a decode are cut into pieces that run in parallel. Two rules for Triton's
// num_kv_splits are in use, and descriptions have a third; FlashInfer cuts by pages. FlashAttention
// 3: fa3_splits.h.

/// The properties of the launch that rule (a) uses.
struct KvSplitLaunch {
  std::int64_t heads_q = 0;
  std::int64_t heads_kv = 0;
  std::int64_t max_splits = 8;
  std::int64_t multiprocessors = 0;
};
/// (a) By the number of multiprocessors (SGLang's get_num_kv_splits_triton). kv_lens >= 1.
[[nodiscard]] std::vector<std::int32_t> dynamic_kv_splits(std::span<const std::int32_t> kv_lens,
                                                          const KvSplitLaunch& launch);

/// (b) One split per `tile` keys whatever the batch: SGLang's deterministic mode.
[[nodiscard]] std::int64_t deterministic_kv_splits(std::int64_t kv_len, std::int64_t tile = 256);

/// (c) As descriptions of SGLang's Triton backend have it, and no code of it: one split up to 512
/// keys, then one per 512, at most 8.
[[nodiscard]] std::int64_t described_kv_splits(std::int64_t kv_len);

/// Keys per split of the Triton decode kernel: kv_len / splits, rounded up to 32 (its block). Split
/// i covers [i * chunk, min((i + 1) * chunk, kv_len)), and may be empty.
[[nodiscard]] std::int64_t kv_split_chunk(std::int64_t kv_len, std::int64_t splits);

/// The properties of a decode that FlashInfer's planner uses.
struct FlashInferDecode {
  std::int64_t heads_q = 0;
  std::int64_t heads_kv = 0;
  std::int64_t head_dim_v = 0;
  std::int64_t page_size = 1;
  std::int64_t sliding_window_size = -1;  ///< its window_left; -1: all keys
  std::int64_t multiprocessors = 0;
};
/// Pages per chunk of FlashInfer's fa2 kernel, with which it decodes on tensor cores (PrefillPlan
/// of its attention/scheduler.cuh, 0.6.9): the fewest, but at least 128 tokens, whose chunks run
/// all at once. Nothing is cut where no request has more pages than that. Its decode on CUDA cores
/// has the same rule, but counts the blocks that run at once by that kernel's occupancy.
[[nodiscard]] std::int64_t flashinfer_chunk_pages(std::span<const std::int32_t> kv_lens,
                                                  const FlashInferDecode& decode);

}  // namespace attnbench
