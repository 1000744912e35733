// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attnbench {

// How FlashAttention 3 cuts the keys of a decode on Hopper, after hopper/ of vLLM's fork of
// flash-attention.

/// Its num_splits_heuristic (heuristics.h): 1 where `blocks` of queries fill four fifths of the
/// multiprocessors or there are up to four tiles of keys, else the fewest splits whose last round
/// of blocks is at least 85 % as full as that of the best number of splits; at most 128. What the
/// function makes of K and V beyond 50 MB needs more query tiles than a decode has.
[[nodiscard]] std::int64_t fa3_num_splits(std::int64_t blocks, std::int64_t multiprocessors,
                                          std::int64_t key_tiles);

/// The properties of a decode that it uses.
struct Fa3Decode {
  std::int64_t heads_q = 0;
  std::int64_t heads_kv = 0;
  std::int64_t head_dim_qk = 0;  ///< of absorbed MLA the rotated part alone
  std::int64_t head_dim_v = 0;
  std::int64_t element_bytes = 2;         ///< of K and V: 2, or 1 of fp8
  std::int64_t sliding_window_size = -1;  ///< its window_size_left; -1: all keys
  std::int64_t multiprocessors = 0;
};

struct Fa3Splits {
  std::int64_t most = 1;                  ///< its num_splits: partial results have this much room
  std::vector<std::int32_t> of_requests;  ///< its num_splits_dynamic: into how many each is cut
};

/// The splits of a batch whose lengths are given as cu_seqlens_q and seqused_k, as engines do, with
/// num_splits = 0. get_num_splits (flash_api.cpp) takes such a batch for its longest request alone,
/// as if the others were short: `most`. prepare_varlen_num_blocks (flash_prepare_scheduler.cu) then
/// cuts each request on the device into pieces of about equal work, 10 % more than there are
/// multiprocessors, and nothing where there are more than 992 requests. That one looks at all keys
/// of a request, with a window, too. kv_lens >= 1.
[[nodiscard]] Fa3Splits fa3_kv_splits(std::span<const std::int32_t> kv_lens,
                                      const Fa3Decode& decode);

}  // namespace attnbench
