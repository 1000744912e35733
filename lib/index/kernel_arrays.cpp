// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/kernel_arrays.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/key_set.h"
#include "lib/index/csr.h"

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

/// Appends the pages of keys [begin, begin + keys) of row `row`.
void append_row(PageTable& to, const PageTable& table, std::int64_t row, std::int64_t begin,
                std::int64_t keys) {
  const auto pages = table.row(row).subspan(to_size(begin / table.page_size),
                                            to_size(ceil_div(keys, table.page_size)));
  to.page_table.insert(to.page_table.end(), pages.begin(), pages.end());
  to.page_table.resize(to.page_table.size() + to_size(to.width) - pages.size(), -1);
  to.cache_seqlens.push_back(narrow_i32(keys));
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

DualChunkDecode make_dual_chunk_decode(const DualChunk& dual, const PageTable& table) {
  const std::int64_t step = dual.step();
  expects(dual.exists() && step % table.page_size == 0, "a dual chunk is whole pages");
  DualChunkDecode decode;
  decode.intra.page_size = decode.succ.page_size = table.page_size;
  decode.intra.width = decode.succ.width = step / table.page_size;
  for (std::int64_t r = 0; r < std::ssize(table.cache_seqlens); ++r) {
    const std::int64_t keys = table.cache_seqlens[to_size(r)];
    const std::int64_t own = std::max<std::int64_t>(keys - 1, 0) / step * step;
    const std::int64_t before = std::max<std::int64_t>(own - step, 0);
    append_row(decode.intra, table, r, own, keys - own);
    append_row(decode.succ, table, r, before, own - before);
    decode.inter.push_back(narrow_i32(before));
  }
  return decode;
}

FullToSwaMapping map_window_pages(const ForwardBatch& batch, const AttentionLayer& layer,
                                  std::int64_t page_size, std::int64_t num_pages) {
  FullToSwaMapping mapping((num_pages - 1) * page_size, page_size);
  std::int64_t next_page = 1;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    const std::int64_t reached = KeySet(layer, batch, r).first_in_reach();
    const std::int64_t first = reached / page_size * page_size;
    const auto tokens = request_tokens(batch, r, first, batch.kv_len(r) - first);
    for (std::size_t t = 0; t < tokens.size(); t += static_cast<std::size_t>(page_size)) {
      const std::int64_t page = tokens[t] / page_size;
      // Padding's keys stay on the dummy page; others may be shared with a request before.
      if (page == 0 || mapping.translate(page * page_size) != 0) continue;
      for (std::int64_t offset = 0; offset < page_size; ++offset) {
        mapping.map(page * page_size + offset, next_page * page_size + offset);
      }
      ++next_page;
    }
  }
  return mapping;
}

std::int64_t trtllm_padded_blocks(std::int64_t max_len, std::int64_t page_size) {
  expects(page_size > 0 && 128 % page_size == 0, "TRT-LLM MLA pages divide 128 tokens");
  const std::int64_t multiple = std::lcm(128 / page_size, 4096 / page_size);
  return round_up(ceil_div(max_len, page_size), multiple);
}

}  // namespace attnbench
