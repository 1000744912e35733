// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/cascade_rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/int_math.h"

namespace attnbench {
namespace {

constexpr std::int64_t kTile = 128;  // queries and keys of one thread block, by vLLM's estimate
constexpr std::int64_t kLeastPrefix = 256;
constexpr std::size_t kLeastRequests = 8;

}  // namespace

CascadeEstimate estimate_cascade(const CascadeInput& input) {
  expects(input.multiprocessors > 0, "an estimate for a GPU without multiprocessors");
  const auto requests = static_cast<std::int64_t>(input.query_lens.size());
  const std::int64_t group_tiles = ceil_div(input.heads_q / input.heads_kv, kTile);
  const std::int64_t prefix_tiles = ceil_div(input.common_prefix_len, kTile);
  const std::int64_t cascade_blocks = input.heads_q * ceil_div(requests, kTile);
  const std::int64_t decoding_blocks = requests * input.heads_kv * group_tiles * prefix_tiles;
  return {ceil_div(cascade_blocks, input.multiprocessors) * prefix_tiles,
          ceil_div(decoding_blocks, input.multiprocessors)};
}

CascadeDecision use_cascade_attention(const CascadeInput& input) {
  if (input.common_prefix_len < kLeastPrefix) {
    return {false, fmt::format("common prefix of {} tokens, fewer than {}", input.common_prefix_len,
                               kLeastPrefix)};
  }
  if (input.use_alibi) return {false, "ALiBi"};
  if (input.use_sliding_window) return {false, "sliding window"};
  if (input.use_local_attention) return {false, "local attention"};
  if (input.query_lens.size() < kLeastRequests) {
    return {false,
            fmt::format("{} requests, fewer than {}", input.query_lens.size(), kLeastRequests)};
  }
  if (input.dcp_world_size > 1) return {false, "context split over ranks"};
  // FlashDecoding packs the queries of a group, so it needs groups and single queries.
  if (input.heads_q == input.heads_kv) return {true, "FlashDecoding needs grouped query heads"};
  if (!std::ranges::all_of(input.query_lens, [](std::int32_t len) { return len == 1; })) {
    return {true, "FlashDecoding needs single queries"};
  }
  const CascadeEstimate estimate = estimate_cascade(input);
  return {estimate.cascade < estimate.flash_decoding,
          fmt::format("{} tiles in turn, {} by FlashDecoding, on {} SMs", estimate.cascade,
                      estimate.flash_decoding, input.multiprocessors)};
}

}  // namespace attnbench
