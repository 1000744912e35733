// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace attnbench {

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

}  // namespace attnbench
