// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attnbench {

/// What one group of multiprocessors does in FlashMLA's dense decode: from block begin_block of
/// request begin_req up to (not including) block end_block of request end_req.
struct MlaTile {
  std::int32_t begin_req = 0;
  std::int32_t begin_block = 0;
  std::int32_t end_req = 0;
  std::int32_t end_block = 0;
  std::int32_t begin_split = 0;  ///< which split of begin_req this is
};

/// FlashMLA's get_mla_metadata. A tile that got no work begins behind where it ends.
struct MlaSchedule {
  std::vector<MlaTile> tiles;
  /// [B + 1] cumulative; a request of one split is written directly, others are combined.
  std::vector<std::int32_t> num_splits;
};

/// multiprocessors / heads_kv / ceil(q_len * heads_q / heads_kv / 64), at least 1.
[[nodiscard]] std::int64_t mla_sm_parts(std::int64_t multiprocessors, std::int64_t heads_q,
                                        std::int64_t heads_kv, std::int64_t q_len);

/// Blocks of 64 keys dealt greedily to `parts`; opening a request costs as much as 5 blocks.
[[nodiscard]] MlaSchedule mla_schedule(std::span<const std::int32_t> kv_lens, std::int64_t parts);

}  // namespace attnbench
