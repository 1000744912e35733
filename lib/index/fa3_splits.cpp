// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/fa3_splits.h"

#include <algorithm>
#include <cmath>

#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench {
namespace {

// Of flash_api.cpp: the last argument of num_splits_heuristic, and PREPARE_VARLEN_MAX_BATCHES_1CTA.
constexpr std::int64_t kFa3MostSplits = 128;
constexpr std::int64_t kFa3MostRequestsToSplit = 992;

/// A tile of a block: rows of queries, the heads of a group one after the other, and keys.
struct Fa3Tile {
  std::int64_t rows = 0;
  std::int64_t keys = 0;
};

/// tile_size_fwd_sm90 (tile_size.h) for decodes from pages that are no whole tiles. Blocks of one
/// warp group serve up to 64 `rows` of 128 dimensions (use_one_mma_wg of heuristics.h).
Fa3Tile fa3_tile(const Fa3Decode& decode, bool local, std::int64_t rows) {
  const std::int64_t dim = decode.head_dim_qk;
  if (decode.element_bytes == 1) {
    if (dim <= 64) return {192, 160};
    if (dim <= 96) return {192, 128};
    if (dim <= 128) return {128, 160};
    if (dim <= 192) return {128, local ? 128 : 160};
    return {128, local ? 64 : 128};
  }
  if (dim <= 64) {
    if (decode.head_dim_v > 256) return {64, 64};
    if (decode.head_dim_v > 64) return {128, 112};
    return {192, 160};
  }
  if (dim <= 96) return {192, 128};
  if (dim <= 128) return {dim == 128 && rows <= 64 ? 64 : 128, 128};
  if (dim <= 192) return {128, 96};
  return {128, local ? 64 : 80};
}

}  // namespace

// Single precision, as there.

std::int64_t fa3_num_splits(std::int64_t blocks, std::int64_t multiprocessors,
                            std::int64_t key_tiles) {
  const auto places = static_cast<float>(multiprocessors);
  if (static_cast<float>(blocks) >= 0.8f * places || key_tiles <= 4) return 1;
  std::vector<float> fullness;
  for (std::int64_t n = 1; n <= std::min({kFa3MostSplits, multiprocessors, key_tiles}); ++n) {
    const float rounds = static_cast<float>(blocks * n) / places;
    fullness.push_back(rounds / std::ceil(rounds));
  }
  const double enough = 0.85 * std::ranges::max(fullness);
  const auto first = std::ranges::find_if(fullness, [&](float each) { return each >= enough; });
  return first - fullness.begin() + 1;
}

Fa3Splits fa3_kv_splits(std::span<const std::int32_t> kv_lens, const Fa3Decode& decode) {
  Fa3Splits splits;
  splits.of_requests.assign(kv_lens.size(), 1);
  if (kv_lens.empty() || std::ssize(kv_lens) > kFa3MostRequestsToSplit) return splits;

  const std::int64_t longest = std::ranges::max(kv_lens), window = decode.sliding_window_size;
  const bool local = window >= 0 && window < longest - 1;
  const std::int64_t group = decode.heads_q / decode.heads_kv;
  // It does not know yet that the rows of a group will share a block.
  const Fa3Tile tile = fa3_tile(decode, local, 1);
  const std::int64_t loaded = local ? std::min(longest, window + 1 + tile.rows) : longest;
  splits.most = fa3_num_splits(decode.heads_kv * ceil_div(group, tile.rows), decode.multiprocessors,
                               ceil_div(loaded, tile.keys));
  if (splits.most == 1) return splits;

  const Fa3Tile packed = fa3_tile(decode, local, group);
  const std::int64_t query_tiles = ceil_div(group, packed.rows);
  std::int64_t tiles = 0;
  for (const std::int32_t len : kv_lens) tiles += query_tiles * ceil_div(len, packed.keys);
  const float tiles_per_place = static_cast<float>(tiles) * 1.1f *
                                static_cast<float>(decode.heads_kv) /
                                static_cast<float>(decode.multiprocessors);
  const auto piece = static_cast<std::int64_t>(std::ceil(tiles_per_place));
  for (std::size_t r = 0; r < kv_lens.size(); ++r) {
    const std::int64_t pieces = ceil_div(ceil_div(kv_lens[r], packed.keys), piece);
    splits.of_requests[r] = narrow_i32(std::clamp<std::int64_t>(pieces, 1, splits.most));
  }
  return splits;
}

}  // namespace attnbench
