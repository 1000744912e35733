// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/fa3_splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnbench {
namespace {

using testing::Each;
using testing::ElementsAre;
using Lens = std::vector<std::int32_t>;

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
  EXPECT_THAT(fa3_kv_splits(Lens{1000, 4000}, decode).of_requests, ElementsAre(3, 11));
  EXPECT_THAT(fa3_kv_splits(Lens{4096}, decode).of_requests, ElementsAre(11));  // 3 of 32 tiles
  EXPECT_THAT(fa3_kv_splits(Lens{100'000, 100}, decode).of_requests, ElementsAre(15, 1));
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
  EXPECT_THAT(fa3_kv_splits(Lens{100'000, 100}, decode).of_requests, ElementsAre(5, 1));
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
  EXPECT_THAT(fa3_kv_splits(Lens{100'000}, decode).of_requests, ElementsAre(57));
}

}  // namespace
}  // namespace attnbench
