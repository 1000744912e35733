// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/batch/allocator.h"
#include "lib/batch/forward_batch.h"
#include "lib/index/page_table.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

// What single kernels are handed besides a page table.

// FlashAttention 3: how it cuts the keys of a decode on Hopper, after hopper/ of vLLM's fork of
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

/// Parts that FlashMLA's dense decode cuts a batch into, which run at once: a block of 64 query
/// rows of a KV head takes a multiprocessor. At least 1.
[[nodiscard]] std::int64_t flashmla_sm_parts(std::int64_t multiprocessors, std::int64_t q_len,
                                             std::int64_t heads_q, std::int64_t heads_kv);

/// What one part computes (FlashMLA's DecodingSchedMeta): blocks of 64 keys, from begin_block of
/// begin_request to before end_block of end_request, whole requests between them.
struct FlashMlaPart {
  std::int32_t begin_request = 0;  ///< B where nothing is left for the part
  std::int32_t end_request = 0;    ///< inclusive
  std::int32_t begin_block = 0;
  std::int32_t end_block = 0;       ///< exclusive
  std::int32_t begin_split = 0;     ///< which of begin_request's splits the part computes
  std::int32_t first_is_split = 0;  ///< 1: other parts compute other blocks of begin_request
  std::int32_t last_is_split = 0;   ///< 1: other parts compute other blocks of end_request

  /// As the kernel reads it.
  [[nodiscard]] std::array<std::int32_t, 8> words() const {
    return {begin_request, end_request,    begin_block,   end_block,
            begin_split,   first_is_split, last_is_split, 0};
  }
};

struct FlashMlaSchedule {
  std::vector<FlashMlaPart> parts;
  std::vector<std::int32_t> num_splits;  ///< [B + 1] splits of the requests, cumulative
};
/// FlashMLA's get_decoding_sched_meta: parts take requests in their order, each as many blocks as
/// its share of all blocks allows; a request, and a piece of one, costs five blocks more. A request
/// without keys counts one block.
[[nodiscard]] FlashMlaSchedule schedule_flashmla(std::span<const std::int32_t> kv_lens,
                                                 std::int64_t sm_parts);

/// A decode of dual-chunk attention in three parts, whose results are merged by their LSEs, as
/// SGLang's dual_chunk_flash_attn runs it: each request's last query over the keys of its own
/// chunk, over the whole chunk before, and over all keys before that.
struct DualChunkDecode {
  PageTable intra, succ;            ///< width: pages of a chunk; -1 behind a row's pages
  std::vector<std::int32_t> inter;  ///< [rows] keys, the first ones of the request's own table
};

/// `table` covers the whole requests; its cache_seqlens are their kv_lens. page_size must divide
/// the step from chunk to chunk, so that each begins with a page.
[[nodiscard]] DualChunkDecode make_dual_chunk_decode(const DualChunk& dual, const PageTable& table);

/// What SGLang's allocator for hybrid models has mapped once each request has given back the pages
/// that the layer's window, or its chunks, passed: the others, in the requests' order, lie on
/// pages 1, 2, ... of the pool of such layers. `num_pages` of the full pool count its dummy.
[[nodiscard]] FullToSwaMapping map_window_pages(const ForwardBatch& batch,
                                                const AttentionLayer& layer, std::int64_t page_size,
                                                std::int64_t num_pages);

/// Columns of the page table that TRT-LLM MLA reads: ceil(max_len / page_size), rounded up to a
/// multiple of lcm(128 / page_size, 4096 / page_size): the kernel reads 128 tokens of blocks at a
/// time and the index builder writes 4096 (SGLang's trtllm_mla_backend). page_size divides 128.
[[nodiscard]] std::int64_t trtllm_padded_blocks(std::int64_t max_len, std::int64_t page_size);

}  // namespace attnbench
