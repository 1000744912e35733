// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/cascade_rule.h"

#include <algorithm>

#include "lib/base/int_math.h"

namespace attnbench {
namespace {

constexpr std::int64_t kTile = 128;  // queries and keys of one thread block, by vLLM's estimate

}  // namespace

CascadeEstimate estimate_cascade(const CascadeInput& input) {
  const auto requests = static_cast<std::int64_t>(input.query_lens.size());
  const std::int64_t group_tiles = ceil_div(input.heads_q / input.heads_kv, kTile);
  const std::int64_t prefix_tiles = ceil_div(input.common_prefix_len, kTile);
  const std::int64_t cascade_blocks = input.heads_q * ceil_div(requests, kTile);
  const std::int64_t decoding_blocks = requests * input.heads_kv * group_tiles * prefix_tiles;
  return {ceil_div(cascade_blocks, input.multiprocessors) * prefix_tiles,
          ceil_div(decoding_blocks, input.multiprocessors)};
}

bool use_cascade_attention(const CascadeInput& input) {
  if (input.common_prefix_len < 256) return false;
  if (input.use_alibi || input.use_sliding_window || input.use_local_attention) return false;
  if (input.query_lens.size() < 8 || input.dcp_world_size > 1) return false;
  const bool all_decode =
      std::ranges::all_of(input.query_lens, [](std::int32_t len) { return len == 1; });
  // FlashDecoding packs the queries of a group, so it needs groups and single queries.
  if (input.heads_q == input.heads_kv || !all_decode) return true;
  const CascadeEstimate estimate = estimate_cascade(input);
  return estimate.cascade < estimate.flash_decoding;
}

}  // namespace attnbench
