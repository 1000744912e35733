// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/flashmla.h"

#include <algorithm>
#include <iterator>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench {
namespace {

constexpr std::int64_t kBlockKeys = 64;
constexpr std::int64_t kOverheadBlocks = 5;

std::int64_t blocks_of(std::int32_t kv_len) {
  return std::max<std::int64_t>(ceil_div(kv_len, kBlockKeys), 1);
}

/// Where the walk over the requests stands.
struct Walk {
  std::int64_t request = 0;
  std::int64_t block = 0;  // of the request: those before it are taken
  std::int32_t split = 0;  // of the request
};

}  // namespace

std::int64_t flashmla_sm_parts(std::int64_t multiprocessors, std::int64_t q_len,
                               std::int64_t heads_q, std::int64_t heads_kv) {
  const std::int64_t row_blocks = ceil_div(q_len * heads_q / heads_kv, 64);
  return std::max<std::int64_t>(multiprocessors / heads_kv / row_blocks, 1);
}

FlashMlaSchedule schedule_flashmla(std::span<const std::int32_t> kv_lens, std::int64_t sm_parts) {
  expects(sm_parts > 0, "a schedule needs at least one part");
  std::int64_t total = 0;
  for (const std::int32_t len : kv_lens) total += blocks_of(len) + kOverheadBlocks;
  const std::int64_t payload = ceil_div(total, sm_parts) + kOverheadBlocks;

  const auto requests = std::ssize(kv_lens);
  const auto blocks = [&](std::int64_t request) { return blocks_of(kv_lens[to_size(request)]); };
  FlashMlaSchedule schedule;
  schedule.num_splits.push_back(0);
  Walk walk;
  for (std::int64_t i = 0; i < sm_parts; ++i) {
    FlashMlaPart part;
    part.begin_request = narrow_i32(walk.request);
    part.begin_block = narrow_i32(walk.block);
    part.begin_split = walk.split;
    part.first_is_split = walk.block > 0 ? 1 : 0;
    std::int64_t left = payload;
    while (walk.request < requests) {
      const std::int64_t rest = blocks(walk.request) - walk.block;
      if (left < rest + kOverheadBlocks) {
        if (left > kOverheadBlocks) {
          walk.block += left - kOverheadBlocks;
          ++walk.split;
        }
        break;
      }
      schedule.num_splits.push_back(schedule.num_splits.back() + walk.split + 1);
      left -= rest + kOverheadBlocks;
      walk = {walk.request + 1, 0, 0};
    }
    if (walk.block > 0) {
      part.end_request = narrow_i32(walk.request);
      part.end_block = narrow_i32(walk.block);
      part.last_is_split = 1;
    } else if (walk.request > 0) {
      part.end_request = narrow_i32(walk.request - 1);
      part.end_block = narrow_i32(blocks(walk.request - 1));
    } else {
      part.end_request = -1;
    }
    if (part.begin_request == part.end_request) {
      part.first_is_split = part.last_is_split = part.first_is_split | part.last_is_split;
    }
    schedule.parts.push_back(part);
  }
  expects(walk.request == requests, "a schedule leaves keys out");
  return schedule;
}

}  // namespace attnbench
