// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/kernel_arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "lib/base/error.h"
#include "lib/index/page_table.h"
#include "lib/index/testing/test_batch.h"

namespace attnbench {
namespace {

using testing::Each;
using testing::ElementsAreArray;
using Lens = std::vector<std::int32_t>;
using Slots = std::vector<std::int32_t>;

TEST(Fa3NumSplits, are_the_fewest_that_fill_the_last_round_of_blocks_nearly_as_well_as_any) {
  EXPECT_EQ(fa3_num_splits(48, 108, 64), 2);     // 96 of 108 places
  EXPECT_EQ(fa3_num_splits(8, 132, 32), 14);     // 112 of 132; 16 splits are the best
  EXPECT_EQ(fa3_num_splits(32, 132, 64), 4);     // 128 of 132
  EXPECT_EQ(fa3_num_splits(1, 132, 1000), 109);  // at most 128, of which 85 %
}

TEST(Fa3NumSplits, are_1_where_blocks_fill_the_gpu_or_keys_are_few) {
  EXPECT_EQ(fa3_num_splits(106, 132, 64), 1);
  EXPECT_NE(fa3_num_splits(105, 132, 64), 1);
  EXPECT_EQ(fa3_num_splits(8, 132, 4), 1);
  EXPECT_EQ(fa3_num_splits(8, 132, 5), 5);
}

Fa3Decode fa3_decode_of(std::int64_t head_dim) {
  return {.heads_q = 32,
          .heads_kv = 8,
          .head_dim_qk = head_dim,
          .head_dim_v = head_dim,
          .multiprocessors = 132};
}

TEST(Fa3KvSplits, have_room_for_the_longest_request_as_if_it_were_alone) {
  const Fa3Decode decode = fa3_decode_of(128);
  EXPECT_EQ(fa3_kv_splits(Lens{4096}, decode).most, 14);
  EXPECT_EQ(fa3_kv_splits(Lens(64, 4096), decode).most, 14);
  EXPECT_EQ(fa3_kv_splits(Lens{1, 4096, 100}, decode).most, 14);
  EXPECT_EQ(fa3_kv_splits(Lens{512, 512}, decode).most, 1);
}

TEST(Fa3KvSplits, cut_requests_into_pieces_of_a_tenth_more_than_an_equal_share) {
  const Fa3Decode decode = fa3_decode_of(128);
  // 8 heads of 8 + 32 tiles are 320: 2.7 with a tenth more for each of 132, 3 in whole tiles.
  EXPECT_THAT(fa3_kv_splits(Lens{1000, 4000}, decode).of_requests, ElementsAreArray({3, 11}));
  EXPECT_THAT(fa3_kv_splits(Lens{4096}, decode).of_requests,
              ElementsAreArray({11}));  // 3 of 32 tiles
  EXPECT_THAT(fa3_kv_splits(Lens{100'000, 100}, decode).of_requests, ElementsAreArray({15, 1}));
  EXPECT_THAT(fa3_kv_splits(Lens(64, 8192), decode).of_requests, Each(1));
}

TEST(Fa3KvSplits, are_1_in_batches_of_more_than_992_requests) {
  const Fa3Decode decode = fa3_decode_of(128);
  Lens lens(992, 1);
  lens[7] = 100'000;
  EXPECT_EQ(fa3_kv_splits(lens, decode).of_requests[7], 7);  // 119 of 782 tiles
  lens.push_back(1);
  EXPECT_EQ(fa3_kv_splits(lens, decode).most, 1);
  EXPECT_THAT(fa3_kv_splits(lens, decode).of_requests, Each(1));
  EXPECT_TRUE(fa3_kv_splits(Lens{}, decode).of_requests.empty());
}

TEST(Fa3KvSplits, of_a_window_have_room_for_its_tiles_and_count_all_keys_in_pieces) {
  Fa3Decode decode = fa3_decode_of(128);
  decode.sliding_window_size = 448;  // 513 keys with the own one and the tile's 64 rows: 5 tiles
  EXPECT_EQ(fa3_kv_splits(Lens{100'000}, decode).most, 5);
  EXPECT_THAT(fa3_kv_splits(Lens{100'000, 100}, decode).of_requests, ElementsAreArray({5, 1}));
  decode.sliding_window_size = 447;  // 512: 4 tiles
  EXPECT_EQ(fa3_kv_splits(Lens{100'000}, decode).most, 1);
  EXPECT_EQ(fa3_kv_splits(Lens{448}, decode).most, 1);
  decode.sliding_window_size = 4095;  // which shows all keys
  EXPECT_EQ(fa3_kv_splits(Lens{4096}, decode).most, 14);
}

TEST(Fa3KvSplits, follow_the_tiles_of_each_head_dim_and_type) {
  // The most keys of which four tiles are enough, and so none is cut.
  const auto four_tiles = [](const Fa3Decode& decode) {
    std::int32_t keys = 1;
    while (fa3_kv_splits(Lens{keys + 1}, decode).most == 1) ++keys;
    return keys;
  };
  Fa3Decode decode = fa3_decode_of(64);
  EXPECT_EQ(four_tiles(fa3_decode_of(64)), 4 * 160);
  EXPECT_EQ(four_tiles(fa3_decode_of(96)), 4 * 128);
  EXPECT_EQ(four_tiles(fa3_decode_of(128)), 4 * 128);
  EXPECT_EQ(four_tiles(fa3_decode_of(192)), 4 * 96);
  EXPECT_EQ(four_tiles(fa3_decode_of(256)), 4 * 80);
  decode.head_dim_v = 256;
  EXPECT_EQ(four_tiles(decode), 4 * 112);
  decode.head_dim_v = 512;  // absorbed MLA
  EXPECT_EQ(four_tiles(decode), 4 * 64);
  const auto fp8 = [](std::int64_t head_dim) {
    Fa3Decode of_fp8 = fa3_decode_of(head_dim);
    of_fp8.element_bytes = 1;
    return of_fp8;
  };
  EXPECT_EQ(four_tiles(fp8(64)), 4 * 160);
  EXPECT_EQ(four_tiles(fp8(96)), 4 * 128);
  EXPECT_EQ(four_tiles(fp8(128)), 4 * 160);
  EXPECT_EQ(four_tiles(fp8(192)), 4 * 160);
  EXPECT_EQ(four_tiles(fp8(256)), 4 * 128);
}

TEST(Fa3KvSplits, count_a_block_for_each_tile_of_a_group) {
  Fa3Decode decode = fa3_decode_of(128);
  decode.heads_kv = 1;
  decode.heads_q = 64;
  EXPECT_EQ(fa3_kv_splits(Lens{100'000}, decode).most, 109);
  decode.heads_q = 65;  // two tiles of 64, before it is known that 128 rows will share a block
  EXPECT_EQ(fa3_kv_splits(Lens{100'000}, decode).most, 57);
  EXPECT_THAT(fa3_kv_splits(Lens{100'000}, decode).of_requests, ElementsAreArray({57}));
}

TEST(FlashMlaSmParts, give_each_block_of_64_query_rows_a_multiprocessor) {
  EXPECT_EQ(flashmla_sm_parts(132, 1, 128, 1), 66);
  EXPECT_EQ(flashmla_sm_parts(132, 1, 16, 1), 132);
  EXPECT_EQ(flashmla_sm_parts(132, 2, 128, 1), 33);
  EXPECT_EQ(flashmla_sm_parts(2, 4, 128, 1), 1);
}

TEST(ScheduleFlashMla, cuts_a_long_request_where_a_part_is_full) {
  const FlashMlaSchedule schedule = schedule_flashmla(Lens{1000, 5000}, 4);
  EXPECT_THAT(schedule.num_splits, ElementsAreArray({0, 1, 5}));
  ASSERT_EQ(schedule.parts.size(), 4u);
  EXPECT_THAT(schedule.parts[0].words(), ElementsAreArray({0, 1, 0, 6, 0, 0, 1, 0}));
  EXPECT_THAT(schedule.parts[1].words(), ElementsAreArray({1, 1, 6, 33, 1, 1, 1, 0}));
  EXPECT_THAT(schedule.parts[2].words(), ElementsAreArray({1, 1, 33, 60, 2, 1, 1, 0}));
  EXPECT_THAT(schedule.parts[3].words(), ElementsAreArray({1, 1, 60, 79, 3, 1, 1, 0}));
}

TEST(ScheduleFlashMla, counts_a_request_without_keys_as_one_block) {
  const FlashMlaSchedule schedule = schedule_flashmla(Lens{64, 0, 300}, 2);
  EXPECT_THAT(schedule.num_splits, ElementsAreArray({0, 1, 2, 3}));
  EXPECT_THAT(schedule.parts[0].words(), ElementsAreArray({0, 1, 0, 1, 0, 0, 0, 0}));
  EXPECT_THAT(schedule.parts[1].words(), ElementsAreArray({2, 2, 0, 5, 0, 0, 0, 0}));
}

TEST(ScheduleFlashMla, opens_no_split_where_a_part_has_no_more_left_than_the_overhead) {
  const FlashMlaSchedule schedule = schedule_flashmla(Lens{64, 64}, 2);  // of 11 blocks 5 are left
  EXPECT_THAT(schedule.num_splits, ElementsAreArray({0, 1, 2}));
  EXPECT_THAT(schedule.parts[1].words(), ElementsAreArray({1, 1, 0, 1, 0, 0, 0, 0}));
}

TEST(ScheduleFlashMla, opens_a_split_of_one_block_where_one_fits_beside_the_overhead) {
  const FlashMlaSchedule schedule = schedule_flashmla(Lens{64, 192}, 2);  // of 12 blocks 6 are left
  EXPECT_THAT(schedule.num_splits, ElementsAreArray({0, 1, 3}));
  EXPECT_THAT(schedule.parts[0].words(), ElementsAreArray({0, 1, 0, 1, 0, 0, 1, 0}));
  EXPECT_THAT(schedule.parts[1].words(), ElementsAreArray({1, 1, 1, 3, 1, 1, 1, 0}));
}

TEST(ScheduleFlashMla, of_many_parts_cuts_every_long_request) {
  EXPECT_THAT(schedule_flashmla(Lens{1000, 5000, 300, 8192}, 66).num_splits,
              ElementsAreArray({0, 4, 24, 26, 58}));
}

TEST(ScheduleFlashMla, gives_the_parts_that_are_left_over_nothing) {
  const FlashMlaSchedule schedule = schedule_flashmla(Lens{64}, 3);
  EXPECT_THAT(schedule.parts[1].words(), ElementsAreArray({1, 0, 0, 1, 0, 0, 0, 0}));
  EXPECT_THAT(schedule_flashmla(Lens{}, 1).parts[0].words(),
              ElementsAreArray({0, -1, 0, 0, 0, 0, 0, 0}));
}

constexpr DualChunk kSmall{8, 2};  // chunks of 6 keys

/// Pages 10, 11, ... of each request.
PageTable table_of(std::vector<std::int32_t> kv_lens, std::int64_t page_size) {
  PageTable table;
  table.page_size = page_size;
  table.width = 20;
  table.cache_seqlens = std::move(kv_lens);
  for (std::size_t r = 0; r < table.cache_seqlens.size(); ++r) {
    for (int page = 10; page < 30; ++page) table.page_table.push_back(page);
  }
  return table;
}

// SGLang's own lengths for chunks of 8 with 2 local tokens.
TEST(DualChunkDecode, has_the_lengths_of_the_three_parts) {
  const DualChunkDecode decode = make_dual_chunk_decode(kSmall, table_of({6, 7, 13, 20}, 1));
  EXPECT_THAT(decode.intra.cache_seqlens, ElementsAreArray({6, 1, 1, 2}));
  EXPECT_THAT(decode.succ.cache_seqlens, ElementsAreArray({0, 6, 6, 6}));
  EXPECT_THAT(decode.inter, ElementsAreArray({0, 0, 6, 12}));
}

TEST(DualChunkDecode, divides_the_keys_of_any_length) {
  std::vector<std::int32_t> lens(100);
  std::iota(lens.begin(), lens.end(), 0);
  PageTable table = table_of(lens, 6);
  const DualChunkDecode decode = make_dual_chunk_decode(kSmall, table);
  for (std::size_t keys = 0; keys < lens.size(); ++keys) {
    const std::int32_t intra = decode.intra.cache_seqlens[keys];
    EXPECT_EQ(intra + decode.succ.cache_seqlens[keys] + decode.inter[keys], lens[keys]);
    EXPECT_LE(intra, 6);
    EXPECT_EQ(intra == 0, keys == 0);
  }
}

TEST(DualChunkDecode, begins_its_tables_where_the_chunks_begin) {
  const DualChunkDecode decode = make_dual_chunk_decode(kSmall, table_of({5, 9, 20}, 2));
  EXPECT_THAT(decode.intra.page_table, ElementsAreArray({10, 11, 12, 13, 14, -1, 19, -1, -1}));
  EXPECT_THAT(decode.succ.page_table, ElementsAreArray({-1, -1, -1, 10, 11, 12, 16, 17, 18}));
}

TEST(DualChunkDecode, refuses_chunks_that_begin_inside_of_pages) {
  EXPECT_THROW(static_cast<void>(make_dual_chunk_decode(kSmall, table_of({20}, 4))), InternalError);
}

AttentionLayer with_reach(std::int64_t window, std::int64_t chunk = 0) {
  AttentionLayer layer;
  layer.sliding_window_size = window;
  layer.attention_chunk = chunk;
  return layer;
}

TEST(MapWindowPages, maps_whole_pages_that_hold_a_key_of_the_window) {
  // Query 9 sees keys 7, 8 and 9: the pages of tokens 4-7 and 8-11.
  const TestBatch test(ForwardMode::kDecode, {slots_from(5, 4, 10)}, {1});
  const FullToSwaMapping mapping = map_window_pages(test.batch, with_reach(2), 4, 11);
  EXPECT_EQ(mapping.table().size(), 10u * 4 + 4 + 1);
  EXPECT_EQ(mapping.translate(23), 0);
  EXPECT_EQ(mapping.translate(24), 4);
  EXPECT_EQ(mapping.translate(27), 7);
  EXPECT_EQ(mapping.translate(29), 9);
  EXPECT_THAT(build_swa_page_table(test.batch, 4, mapping).row(0), ElementsAreArray({0, 1, 2}));
}

TEST(MapWindowPages, maps_the_pages_of_the_chunks_that_hold_queries) {
  // Queries 7 to 9, of chunks 6 to 8 and 9 to 11 where a chunk has 3 keys: tokens 4 to 9.
  const TestBatch test(ForwardMode::kExtend, {slots_from(5, 4, 10)}, {3});
  const auto pages = [&](const AttentionLayer& layer) {
    return build_swa_page_table(test.batch, 4, map_window_pages(test.batch, layer, 4, 11));
  };
  EXPECT_THAT(pages(with_reach(-1, 3)).row(0), ElementsAreArray({0, 1, 2}));
  EXPECT_THAT(pages(with_reach(-1, 8)).row(0), ElementsAreArray({1, 2, 3}));
  EXPECT_THAT(pages(with_reach(1, 8)).row(0), ElementsAreArray({0, 1, 2})) << "both bounds hold";
}

TEST(MapWindowPages, maps_a_shared_page_once) {
  Slots second = slots_from(3, 4, 4);
  const Slots own = slots_from(6, 4, 2);
  second.insert(second.end(), own.begin(), own.end());
  const TestBatch test(ForwardMode::kDecode, {slots_from(3, 4, 5), second}, {1, 1});
  const PageTable table =
      build_swa_page_table(test.batch, 4, map_window_pages(test.batch, with_reach(7), 4, 11));
  EXPECT_THAT(table.row(0), ElementsAreArray({1, 2}));
  EXPECT_THAT(table.row(1), ElementsAreArray({1, 3}));
}

TEST(TrtllmPaddedBlocks, rounds_up_to_what_kernel_and_builder_both_divide) {
  EXPECT_EQ(trtllm_padded_blocks(130, 32), 128);
  EXPECT_EQ(trtllm_padded_blocks(130, 64), 64);
  EXPECT_EQ(trtllm_padded_blocks(5000, 32), 256);
  EXPECT_EQ(trtllm_padded_blocks(5000, 64), 128);
  EXPECT_THROW(static_cast<void>(trtllm_padded_blocks(130, 256)), InternalError);
}

}  // namespace

}  // namespace attnbench
