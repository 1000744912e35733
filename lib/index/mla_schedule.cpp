// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/mla_schedule.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench {
namespace {

constexpr std::int64_t kBlockTokens = 64;
constexpr std::int64_t kOverheadBlocks = 5;

/// A request without keys still counts one block.
std::int64_t blocks_of(std::int64_t kv_len) {
  return std::max<std::int64_t>(kv_len - 1, 0) / kBlockTokens + 1;
}

}  // namespace

std::int64_t mla_sm_parts(std::int64_t multiprocessors, std::int64_t heads_q, std::int64_t heads_kv,
                          std::int64_t q_len) {
  const std::int64_t query_tiles = ceil_div(q_len * heads_q / heads_kv, 64);
  return std::max<std::int64_t>(multiprocessors / heads_kv / query_tiles, 1);
}

MlaSchedule mla_schedule(std::span<const std::int32_t> kv_lens, std::int64_t parts) {
  expects(parts > 0, "a schedule needs at least one part");
  std::int64_t total = 0;
  for (const std::int32_t len : kv_lens) total += blocks_of(len) + kOverheadBlocks;
  const std::int64_t payload = ceil_div(total, parts) + kOverheadBlocks;

  MlaSchedule schedule;
  schedule.num_splits.push_back(0);
  std::size_t req = 0;
  std::int64_t block = 0;  // of req, the next one to deal
  std::int64_t split = 0;  // of req
  for (std::int64_t part = 0; part < parts; ++part) {
    MlaTile tile;
    tile.begin_req = narrow_i32(static_cast<std::int64_t>(req));
    tile.begin_block = narrow_i32(block);
    tile.begin_split = narrow_i32(split);
    for (std::int64_t room = payload; req < kv_lens.size();) {
      const std::int64_t left = blocks_of(kv_lens[req]) - block;
      if (room >= left + kOverheadBlocks) {
        schedule.num_splits.push_back(schedule.num_splits.back() + narrow_i32(split + 1));
        room -= left + kOverheadBlocks;
        ++req;
        block = 0;
        split = 0;
        continue;
      }
      if (room > kOverheadBlocks) {
        block += room - kOverheadBlocks;
        ++split;
      }
      break;
    }
    // Name the end by the last request that was touched.
    const bool inside = block > 0;
    tile.end_req = narrow_i32(static_cast<std::int64_t>(req) - (inside ? 0 : 1));
    tile.end_block = narrow_i32(inside ? block : req == 0 ? 0 : blocks_of(kv_lens[req - 1]));
    schedule.tiles.push_back(tile);
  }
  expects(req == kv_lens.size(), "the MLA schedule leaves requests over");
  return schedule;
}

}  // namespace attnbench
