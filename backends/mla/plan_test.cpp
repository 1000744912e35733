// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/mla/plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "lib/batch/graph_padding.h"
#include "lib/fixture/fixture.h"
#include "lib/fixture/testing/small_cases.h"

namespace attnbench {
namespace {

constexpr int kMultiprocessors = 132;

Case decode(int requests, std::int64_t kv_len, int heads = 128) {
  Case c = small_mla();
  c.layer.heads_q = heads;
  c.requests.assign(static_cast<std::size_t>(requests), Request{});
  for (Request& request : c.requests) request.kv_len = kv_len;
  return c;
}

struct Planned {
  std::vector<SplitKvItem> tiles;
  MlaPlan plan;
};
Planned plan(const Case& c, int multiprocessors = kMultiprocessors) {
  const BatchLayout layout = lay_out(c);
  const int lanes = mla_lanes(layout.batch, c.layer);
  Planned planned{mla_tiles(layout.batch, c.layer, lanes), {}};
  planned.plan = plan_mla(planned.tiles, lanes, multiprocessors);
  return planned;
}

std::vector<std::int64_t> keys_of_parts(const MlaPlan& plan) {
  std::vector<std::int64_t> keys;
  for (std::size_t part = 0; part + 1 < plan.part_begin.size(); ++part) {
    keys.push_back(0);
    for (auto i = plan.part_begin[part]; i < plan.part_begin[part + 1]; ++i) {
      const SplitKvItem& item = plan.items[static_cast<std::size_t>(i)];
      keys.back() += item.key_end - item.key_begin;
    }
  }
  return keys;
}

TEST(MlaPlan, covers_every_key_of_every_tile_once_and_knows_where_pieces_wait) {
  std::vector<Case> cases = {decode(64, 4096), decode(1, 100000), decode(37, 5000, 64),
                             decode(200, 77),  decode(3, 1),      decode(100, 3000)};
  cases.push_back(decode(30, 900, 16));
  cases.back().mode = ForwardMode::kExtend;
  for (std::size_t r = 0; r < 30; ++r) {
    cases.back().requests[r].q_len = 1 + static_cast<std::int64_t>(7 * r % 50);
    cases.back().requests[r].kv_len += static_cast<std::int64_t>(300 * r);
  }
  for (const Case& c : cases) {
    const Planned planned = plan(c);
    const MlaPlan& made = planned.plan;
    ASSERT_EQ(made.part_begin.back(), static_cast<std::int32_t>(made.items.size()));
    EXPECT_LE(made.part_begin.size(), static_cast<std::size_t>(kMultiprocessors / made.lanes) + 1);
    EXPECT_TRUE(std::is_sorted(made.part_begin.begin(), made.part_begin.end()));
    using Tile = std::pair<int, int>;  // request, first row
    std::map<Tile, std::map<int, const SplitKvItem*>> pieces;
    for (const SplitKvItem& item : made.items) {
      const Tile name{item.request, item.row_begin};
      EXPECT_TRUE(pieces[name].emplace(item.key_begin, &item).second);
    }
    EXPECT_EQ(pieces.size(), planned.tiles.size());
    std::map<Tile, const SplitKvItem*> merges;
    for (const SplitKvItem& merge : made.merges) merges[{merge.request, merge.row_begin}] = &merge;
    std::vector<int> waiting(static_cast<std::size_t>(made.partials));
    for (const SplitKvItem& tile : planned.tiles) {
      const Tile name{tile.request, tile.row_begin};
      int end = tile.key_begin, index = 0;
      for (const auto& [begin, piece] : pieces[name]) {
        EXPECT_EQ(begin, end);
        end = piece->key_end;
        EXPECT_EQ(piece->rows, tile.rows);
        EXPECT_LE(piece->rows, made.partial_rows);
        EXPECT_EQ(piece->splits, static_cast<int>(pieces[name].size()));
        if (piece->splits == 1) continue;
        ASSERT_TRUE(merges.count(name));
        EXPECT_EQ(piece->partial, merges[name]->first_partial + index++);
        EXPECT_EQ(piece->splits, merges[name]->splits);
        ++waiting[static_cast<std::size_t>(piece->partial)];
      }
      EXPECT_EQ(end, tile.key_end);
    }
    EXPECT_THAT(waiting, testing::Each(1));
  }
}

TEST(MlaPlan, shares_keys_between_two_blocks_where_most_tiles_have_128_rows) {
  EXPECT_EQ(plan(decode(8, 1000, 128)).plan.lanes, 2);
  EXPECT_EQ(plan(decode(8, 1000, 64)).plan.lanes, 1);
  EXPECT_EQ(plan(decode(8, 1000, 65)).plan.lanes, 2);
  EXPECT_EQ(plan(decode(8, 1000, 192)).plan.lanes, 1);
}

TEST(MlaPlan, leaves_tiles_whole_where_they_fill_the_gpu) {
  EXPECT_TRUE(plan(decode(64, 4096)).plan.merges.empty());
  EXPECT_TRUE(plan(decode(128, 4096, 64)).plan.merges.empty());
}

TEST(MlaPlan, splits_so_that_parts_have_about_the_same_to_do) {
  for (const Case& c : {decode(1, 100000), decode(16, 4096), decode(100, 3000)}) {
    const MlaPlan made = plan(c).plan;
    EXPECT_FALSE(made.merges.empty());
    const std::vector<std::int64_t> keys = keys_of_parts(made);
    const std::int64_t most = *std::max_element(keys.begin(), keys.end());
    const std::int64_t all = std::accumulate(keys.begin(), keys.end(), std::int64_t{0});
    EXPECT_LE(most * (kMultiprocessors / made.lanes), all * 5 / 4);
  }
}

TEST(MlaPlan, gives_every_part_a_start_even_if_there_is_little_to_do) {
  const MlaPlan made = plan(decode(1, 5)).plan;
  EXPECT_EQ(made.items.size(), 1u);
  EXPECT_EQ(made.part_begin.size(), static_cast<std::size_t>(kMultiprocessors / 2) + 1);
}

TEST(MlaPlan, of_any_uniform_batch_fits_the_room_of_its_size) {
  std::mt19937 random(5);
  const auto upto = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  MlaRoom fullest;  // in percent
  for (int i = 0; i < 120; ++i) {
    const std::int64_t requests = 1 + upto(i % 3 == 0 ? 150 : 5);
    Case c = decode(static_cast<int>(requests), 1, 8 << upto(4));
    const std::int64_t longest = upto(2) == 0 ? 600 : 20000;
    for (Request& request : c.requests) request.kv_len += upto(longest);
    const Planned planned = plan(c);
    const MlaRoom room = mla_room(requests, c.layer.heads_q, kMultiprocessors);
    EXPECT_EQ(mla_lanes(c.layer.heads_q), planned.plan.lanes);
    EXPECT_EQ(std::ssize(planned.plan.part_begin) - 1, room.parts);
    EXPECT_LE(std::ssize(planned.plan.items), room.items);
    EXPECT_LE(std::ssize(planned.plan.merges), room.merges);
    EXPECT_LE(planned.plan.partials, room.partials);
    EXPECT_LE(planned.plan.partial_rows, room.partial_rows);
    fullest = most_of(fullest, {100 * std::ssize(planned.plan.items) / room.items, 0, 0,
                                100 * std::ssize(planned.plan.merges) / room.merges,
                                100 * planned.plan.partials / room.partials, 0});
  }
  EXPECT_GE(fullest.items, 99);  // and the room is no larger than needed
  EXPECT_EQ(fullest.merges, 100);
  EXPECT_GE(fullest.partials, 90);
}

TEST(MlaPlan, gives_padding_no_work_and_leaves_the_others_theirs) {
  const Case c = decode(5, 4000);
  const BatchLayout layout = lay_out(c);
  const auto work_of = [&](const ForwardBatch& batch) {
    const int lanes = mla_lanes(batch, c.layer);
    return plan_mla(mla_tiles(batch, c.layer, lanes), lanes, kMultiprocessors);
  };
  const MlaPlan alone = work_of(layout.batch);
  const MlaPlan padded = work_of(pad_for_cuda_graph(layout.batch, 8, 1));
  EXPECT_EQ(alone.part_begin, padded.part_begin);
  ASSERT_EQ(alone.items.size(), padded.items.size());
  for (std::size_t i = 0; i < alone.items.size(); ++i) {
    EXPECT_EQ(std::memcmp(&alone.items[i], &padded.items[i], sizeof(SplitKvItem)), 0);
  }
}

}  // namespace
}  // namespace attnbench
