// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <utility>

#include "backends/common/visibility.h"
#include "lib/batch/graph_padding.h"
#include "lib/fixture/fixture.h"
#include "lib/layout/lay_out.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench::paged_fa {
namespace {

constexpr int kMultiprocessors = 132;

Case longer(const Case& small, std::int64_t keys) {
  Case c = small;
  for (Request& request : c.requests) request.kv_len += keys;
  return c;
}

WorkPlan plan_of(const BatchLayout& layout, const Case& c, int multiprocessors) {
  return plan_work(plan_input(layout.batch, c.layer, true, multiprocessors));
}

/// Of all small cases: in small tiles, and in large ones because the GPU is full.
template <class F>
void for_plans_of_small_cases(std::int64_t further_keys, const F& f) {
  bool large = false;
  std::vector<Case> cases = all_small_cases();
  std::ranges::copy(small_windows(), std::back_inserter(cases));
  std::ranges::copy(small_blocks(), std::back_inserter(cases));
  std::ranges::copy(small_spans(), std::back_inserter(cases));
  std::ranges::copy(small_dual_chunks(), std::back_inserter(cases));
  for (const Case& small : cases) {
    const Case c = longer(small, further_keys);
    SCOPED_TRACE(c.id);
    const BatchLayout layout = lay_out(c);
    for (const int multiprocessors : {1, kMultiprocessors}) {
      const WorkPlan plan = plan_of(layout, c, multiprocessors);
      for (const WorkPlan::Launch& launch : plan.launches) {
        large |= launch.tile != TileKind::kFew;
      }
      f(layout, c, plan);
    }
  }
  EXPECT_TRUE(large);
}

/// `queries` prompt tokens over `keys` keys for each of `count` requests.
WorkPlan prompt(int count, std::int64_t queries, std::int64_t keys, int heads_kv = 8) {
  PlanInput problem;
  problem.sequences.assign(static_cast<std::size_t>(count), {queries, keys, nullptr});
  problem.heads_kv = heads_kv;
  problem.group = 4;
  problem.multiprocessors = kMultiprocessors;
  return plan_work(problem);
}

TEST(PagedFaPlan, computes_every_visible_key_of_every_row_once) {
  for_plans_of_small_cases(3000, [](const BatchLayout& layout, const Case& c, WorkPlan plan) {
    const int group = c.layer.group_size();
    std::map<std::pair<int, int>, std::int64_t> next_key;  // of (request, row)
    std::ranges::stable_sort(plan.items, {}, &Item::key_begin);
    for (const Item& item : plan.items) {
      for (int row = item.row_begin; row < item.row_begin + item.rows; ++row) {
        const Visibility seen = visibility_of(layout.batch, c.layer, item.sequence, row / group);
        const auto first = next_key.try_emplace({item.sequence, row}, item.key_begin);
        if (first.second) {
          EXPECT_LE(item.key_begin, seen.begin);
        }
        EXPECT_EQ(first.first->second, item.key_begin);
        first.first->second = item.key_end;
      }
    }
    std::size_t rows = 0;
    for (std::int64_t r = 0; r < layout.batch.batch_size; ++r) {
      rows += static_cast<std::size_t>(layout.batch.q_len(r) * group);
    }
    EXPECT_EQ(next_key.size(), rows);
    for (const auto& [row, end] : next_key) {
      EXPECT_GE(end, visibility_of(layout.batch, c.layer, row.first, row.second / group).end);
    }
  });
}

TEST(PagedFaPlan, leaves_masks_out_only_where_every_row_of_a_tile_sees_every_key) {
  const auto check = [](const BatchLayout& layout, const Case& c, const WorkPlan& plan) {
    for (const Item& item : plan.items) {
      EXPECT_LE(item.full_end, item.key_end);
      for (int row = item.row_begin; row < item.row_begin + item.rows; ++row) {
        const Visibility seen =
            visibility_of(layout.batch, c.layer, item.sequence, row / c.layer.group_size());
        for (int key = item.full_begin; key < item.full_end; ++key) ASSERT_TRUE(seen.sees(key));
      }
    }
  };
  for_plans_of_small_cases(300, check);
}

TEST(PagedFaPlan, of_a_chunked_layer_reads_the_own_chunk_alone) {
  PlanInput problem;
  problem.sequences = {{1, 8192, nullptr}, {1, 8193, nullptr}, {1, 100'000, nullptr}};
  problem.chunk = 8192;
  problem.multiprocessors = kMultiprocessors;
  std::map<int, std::int64_t> keys;
  for (const Item& item : plan_work(problem).items) {
    keys[item.sequence] += item.key_end - item.key_begin;
  }
  EXPECT_EQ(keys, (std::map<int, std::int64_t>{{0, 8192}, {1, 1}, {2, 100'000 - 98'304}}));
  // Tiles of a prompt begin with the chunk of their first row, and need no mask where all of their
  // rows are in it and see the keys.
  problem.sequences = {{100'000, 100'000, nullptr}};
  for (const Item& item : plan_work(problem).items) {
    EXPECT_EQ(item.key_begin % 8192, 0);
    EXPECT_LE(item.key_end - item.key_begin, 8192 + item.rows);
  }
}

TEST(PagedFaPlan, of_dual_chunks_gives_an_item_keys_of_one_form_of_its_queries) {
  for (const DualChunk dual : {DualChunk{8, 2}, DualChunk{1100, 100}}) {
    PlanInput problem;
    problem.group = 4;
    problem.multiprocessors = kMultiprocessors;
    problem.dual_chunk = dual;
    problem.sequences = {{1, 6, nullptr},  {1, 7, nullptr},      {1, 13, nullptr},
                         {1, 20, nullptr}, {700, 5000, nullptr}, {30, 30, nullptr}};
    const std::int64_t step = dual.step();
    std::map<std::pair<int, int>, std::int64_t> keys;  // of (variant, request) of a decode
    for (const Item& item : plan_work(problem).items) {
      const Sequence& sequence = problem.sequences[static_cast<std::size_t>(item.sequence)];
      const std::int64_t prefix = sequence.kv_len - sequence.q_len;
      const std::int64_t chunk = (prefix + item.row_begin / 4) / step;
      EXPECT_EQ(chunk, (prefix + (item.row_begin + item.rows - 1) / 4) / step)
          << "a tile of queries of two chunks";
      ASSERT_LT(item.key_begin, item.key_end);
      EXPECT_EQ(std::min<std::int64_t>(chunk - (item.key_end - 1) / step, 2), item.variant);
      EXPECT_EQ(std::min<std::int64_t>(chunk - item.key_begin / step, 2), item.variant);
      if (sequence.q_len == 1) {
        keys[{item.variant, item.sequence}] += item.key_end - item.key_begin;
      }
    }
    if (step != 6) continue;
    // SGLang's lengths of a decode's three parts.
    const std::map<std::pair<int, int>, std::int64_t> expected = {
        {{0, 0}, 6}, {{0, 1}, 1}, {{0, 2}, 1}, {{0, 3}, 2}, {{1, 1}, 6},
        {{1, 2}, 6}, {{1, 3}, 6}, {{2, 2}, 6}, {{2, 3}, 12}};
    EXPECT_EQ(keys, expected);
  }
}

TEST(PagedFaPlan, of_a_prefix_alone_reads_no_key_of_the_step_and_each_row_s_share_of_a_window) {
  for (const bool causal : {true, false}) {
    PlanInput problem;
    problem.group = 2;
    problem.causal = causal;
    problem.prefix_alone = true;
    problem.multiprocessors = kMultiprocessors;
    problem.sequences = {{100, 1000, nullptr}, {40, 40, nullptr}, {1, 31, nullptr}};
    std::map<int, std::int64_t> rows, last;
    for (const Item& item : plan_work(problem).items) {
      rows[item.sequence] += item.rows;
      EXPECT_LE(item.full_begin, item.key_begin) << "queries see a prefix whole";
      EXPECT_EQ(item.full_end, item.key_end);
      last[item.sequence] = std::max<std::int64_t>(last[item.sequence], item.key_end);
    }
    EXPECT_EQ(last, (std::map<int, std::int64_t>{{0, 900}, {1, 0}, {2, 30}}));
    problem.window = 20;
    for (const Item& item : plan_work(problem).items) {
      const Sequence& sequence = problem.sequences[static_cast<std::size_t>(item.sequence)];
      const std::int64_t prefix = sequence.kv_len - sequence.q_len;
      const std::int64_t begin = std::max<std::int64_t>(0, prefix + item.row_begin / 2 - 20);
      EXPECT_EQ(item.key_begin, std::min(begin, prefix));
      EXPECT_EQ(item.key_end, prefix);
    }
  }
}

TEST(PagedFaPlan, gives_each_request_of_a_mixed_step_tiles_of_its_size) {
  PlanInput problem;
  problem.group = 4;
  problem.sequences = {{1, 5000, nullptr}, {2048, 9000, nullptr}, {8, 700, nullptr}};
  const auto tile_of_sequence = [](const WorkPlan& plan) {
    std::map<int, TileKind> tiles;
    for (const WorkPlan::Launch& launch : plan.launches) {
      for (int i = 0; i < launch.num_items; ++i) {
        const auto at = static_cast<std::size_t>(launch.first_item + i);
        tiles[plan.items[at].sequence] = launch.tile;
      }
    }
    return tiles;
  };
  EXPECT_THAT(tile_of_sequence(plan_work(problem)),
              testing::ElementsAre(std::pair(0, TileKind::kFew), std::pair(1, TileKind::kMany),
                                   std::pair(2, TileKind::kSome)));
  problem.many_rows = false;
  EXPECT_THAT(tile_of_sequence(plan_work(problem)),
              testing::ElementsAre(std::pair(0, TileKind::kFew), std::pair(1, TileKind::kSome),
                                   std::pair(2, TileKind::kSome)));
}

TEST(PagedFaPlan, cuts_a_step_with_little_to_read_into_tiles_of_16_rows_for_one_launch) {
  PlanInput step;  // quickstart's prefix_hits
  step.group = 4;
  step.multiprocessors = kMultiprocessors;
  step.sequences.assign(12, {1, 2000, nullptr});
  step.sequences.push_back({97, 1121, nullptr});
  step.sequences.push_back({150, 1174, nullptr});
  const auto tiles = [](const PlanInput& problem) {
    std::vector<TileKind> kinds;
    for (const WorkPlan::Launch& launch : plan_work(problem).launches) {
      kinds.push_back(launch.tile);
    }
    return kinds;
  };
  const auto few = testing::ElementsAre(TileKind::kFew);
  const auto many_and_few = testing::ElementsAre(TileKind::kMany, TileKind::kFew);
  EXPECT_THAT(tiles(step), few);
  for (const Item& item : plan_work(step).items) EXPECT_LE(item.rows, 16);

  PlanInput read_more = step;  // 63 tiles' keys: more than 768 for each of 264 blocks
  read_more.sequences[12].kv_len = read_more.sequences[13].kv_len = 3200;
  EXPECT_THAT(tiles(read_more), many_and_few);
  PlanInput more_heads = step;  // the keys of each
  more_heads.heads_kv = 3;
  EXPECT_THAT(tiles(more_heads), many_and_few);
  for (Sequence& sequence : more_heads.sequences) sequence.kv_len = sequence.q_len;
  EXPECT_THAT(tiles(more_heads), few);
  more_heads.heads_kv = 4;  // 75 tiles of each head in 264 blocks
  EXPECT_THAT(tiles(more_heads), many_and_few);
  PlanInput more_tiles = step;  // 75 of them, and 189 decodes of few keys
  more_tiles.sequences.insert(more_tiles.sequences.end(), 189, {1, 16, nullptr});
  EXPECT_THAT(tiles(more_tiles), few);
  more_tiles.sequences.push_back({1, 16, nullptr});
  EXPECT_THAT(tiles(more_tiles), many_and_few);
}

TEST(PagedFaPlan, puts_long_tiles_first_and_splits_only_what_does_not_fill_the_gpu) {
  const WorkPlan long_prompt = prompt(1, 16384, 16384);
  EXPECT_EQ(long_prompt.items.size(), 512u);
  EXPECT_EQ(long_prompt.partials, 0);
  EXPECT_TRUE(std::ranges::is_sorted(long_prompt.items, std::greater{}, &Item::key_end));
  EXPECT_EQ(prompt(64, 1, 8192).partials, 0);

  const WorkPlan lone_decode = prompt(1, 1, 8192);
  EXPECT_EQ(lone_decode.items.size(), 32u);  // of 256 keys, for 8 heads: 256 blocks
  EXPECT_EQ(lone_decode.partials, 32);
  EXPECT_EQ(lone_decode.tiles, 1);
  EXPECT_EQ(lone_decode.partial_rows, 4);
}

TEST(PagedFaPlan, gives_rows_without_keys_an_item_that_stores_them) {
  const WorkPlan empty = prompt(1, 3, 0);
  ASSERT_EQ(empty.items.size(), 1u);
  EXPECT_EQ(empty.items[0].rows, 12);
  EXPECT_EQ(empty.items[0].key_begin, empty.items[0].key_end);
}

TEST(PagedFaPlan, of_any_uniform_batch_fits_the_room_of_its_size) {
  std::mt19937 random(5);
  const auto upto = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  tiles::Room fullest;                                 // in percent
  std::map<std::pair<TileKind, TileKind>, int> plans;  // of (usual tile, tile)
  for (int i = 0; i < 2000; ++i) {
    PlanInput problem;
    problem.heads_kv = 1 << upto(4);
    problem.group = 1 << upto(5);
    problem.many_rows = upto(1) == 0;
    problem.multiprocessors = kMultiprocessors;
    const bool dual = i % 10 == 1;  // whose decodes alone are recorded
    if (dual) problem.dual_chunk = {1 + upto(3000), 0};
    const std::int64_t requests = 1 + upto(i % 3 == 0 ? 40 : 5), q_len = dual ? 1 : 1 + upto(9);
    const std::int64_t longest = upto(2) == 0 ? 600 : 50000;
    const std::int64_t even = i % 4 == 0 ? 1 + upto(longest) : 0;
    for (std::int64_t r = 0; r < requests; ++r) {
      problem.sequences.push_back({q_len, q_len + (even > 0 ? even : upto(longest)), nullptr});
    }
    const WorkPlan plan = plan_work(problem);
    const UniformPlan uniform = uniform_plan(requests, q_len, problem);
    const tiles::Room made = plan.room(), room = uniform.room;
    ASSERT_EQ(plan.launches.size(), 1u);
    const auto place =
        std::ranges::find(uniform.launches, plan.launches[0].tile, &WorkPlan::Launch::tile);
    ASSERT_NE(place, uniform.launches.end());
    ++plans[{uniform.launches[0].tile, place->tile}];
    EXPECT_LE(made.items, place->num_items);
    EXPECT_EQ(room.items, uniform.launches.back().first_item + uniform.launches.back().num_items);
    EXPECT_LE(made.tiles, room.tiles);
    EXPECT_LE(made.partials, room.partials);
    EXPECT_LE(made.partial_rows, room.partial_rows);
    if (dual) continue;
    fullest = most_of(fullest, {100 * made.items / place->num_items, 100 * made.tiles / room.tiles,
                                100 * made.partials / room.partials, 0});
  }
  EXPECT_GE(fullest.items, 90);  // and the room is no larger than needed
  EXPECT_EQ(fullest.tiles, 100);
  EXPECT_GE(fullest.partials, 75);
  for (const TileKind tile : {TileKind::kSome, TileKind::kMany}) {
    EXPECT_GT((plans[{tile, tile}]), 50);
    EXPECT_GT((plans[{tile, TileKind::kFew}]), 50);
  }
}

TEST(PagedFaPlan, goes_to_the_launch_of_its_tiles_and_leaves_the_others_empty) {
  for (const std::int64_t keys : {500, 50000}) {
    PlanInput problem;
    problem.group = 4;
    problem.multiprocessors = kMultiprocessors;
    problem.sequences.assign(4, {16, keys, nullptr});
    const UniformPlan uniform = uniform_plan(4, 16, problem);
    ASSERT_EQ(uniform.launches.size(), 2u);
    const WorkPlan plan = plan_work(problem);
    WorkPlan placed = plan;
    place_in(uniform, placed);
    EXPECT_EQ(placed.launches.size(), 2u);
    ASSERT_EQ(std::ssize(placed.items), uniform.room.items);
    const std::size_t filled = keys == 500 ? 1 : 0;
    for (std::size_t l = 0; l < 2; ++l) {
      for (int i = 0; i < uniform.launches[l].num_items; ++i) {
        const Item& item =
            placed.items[static_cast<std::size_t>(uniform.launches[l].first_item + i)];
        const bool real = l == filled && i < std::ssize(plan.items);
        EXPECT_EQ(item.rows, real ? plan.items[static_cast<std::size_t>(i)].rows : 0);
        EXPECT_LE(item.rows, static_cast<int>(uniform.launches[l].tile));
      }
    }
  }
}

TEST(PagedFaPlan, gives_padding_no_work_and_leaves_the_others_theirs) {
  const Case c = longer(small_tree_verify(), 3000);
  const BatchLayout layout = lay_out(c);
  const auto plan = [&](const ForwardBatch& batch) {
    return plan_work(plan_input(batch, c.layer, true, kMultiprocessors));
  };
  const WorkPlan alone = plan(layout.batch);
  const WorkPlan padded = plan(pad_for_cuda_graph(layout.batch, 9, 1));
  ASSERT_EQ(alone.items.size(), padded.items.size());
  for (std::size_t i = 0; i < alone.items.size(); ++i) {
    EXPECT_EQ(std::memcmp(&alone.items[i], &padded.items[i], sizeof(Item)), 0);
  }
}

}  // namespace
}  // namespace attnbench::paged_fa
