// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/kv_splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::Each;
using testing::ElementsAreArray;
using Lens = std::vector<std::int32_t>;

KvSplitLaunch launch(std::int64_t heads_q, std::int64_t heads_kv, std::int64_t max_splits) {
  KvSplitLaunch value;
  value.heads_q = heads_q;
  value.heads_kv = heads_kv;
  value.max_splits = max_splits;
  value.multiprocessors = 132;
  return value;
}

TEST(DynamicKvSplits, fill_the_multiprocessors_and_level_long_requests) {
  EXPECT_THAT(dynamic_kv_splits(Lens{1000, 4000}, launch(32, 8, 8)), ElementsAreArray({2, 8}));
  EXPECT_THAT(dynamic_kv_splits(Lens{1000}, launch(32, 8, 8)), ElementsAreArray({8}));
  EXPECT_THAT(dynamic_kv_splits(Lens(64, 1024), launch(32, 8, 8)), Each(2));
  EXPECT_THAT(dynamic_kv_splits(Lens{100, 100, 8192}, launch(32, 32, 8)),
              ElementsAreArray({1, 1, 8}));
  EXPECT_THAT(dynamic_kv_splits(Lens{4096}, launch(128, 1, 16)), ElementsAreArray({16}));
}

TEST(DynamicKvSplits, treat_lengths_within_a_quarter_as_equal) {
  Lens lens(128, 1000);
  lens[5] = 900;
  EXPECT_THAT(dynamic_kv_splits(lens, launch(32, 8, 8)), Each(1));
  lens[5] = 800;
  EXPECT_EQ(dynamic_kv_splits(lens, launch(32, 8, 8))[0], 2);
}

TEST(DynamicKvSplits, count_blocks_of_at_most_16_heads) {
  EXPECT_THAT(dynamic_kv_splits(Lens(64, 1024), launch(128, 1, 8)), Each(2));
}

TEST(DynamicKvSplits, of_short_requests_fill_all_multiprocessors_too) {
  // From 128 keys down each is filled once: 132 over 8 blocks are more than 8 splits.
  EXPECT_THAT(dynamic_kv_splits(Lens{64}, launch(32, 8, 8)), ElementsAreArray({8}));
  EXPECT_THAT(dynamic_kv_splits(Lens(8, 100), launch(32, 8, 8)), Each(3));  // 132 over 64
}

TEST(DynamicKvSplits, refuse_a_request_without_keys) {
  EXPECT_THROW(static_cast<void>(dynamic_kv_splits(Lens{0}, launch(32, 8, 8))), InternalError);
}

TEST(DeterministicKvSplits, depend_on_the_length_alone) {
  EXPECT_EQ(deterministic_kv_splits(256), 1);
  EXPECT_EQ(deterministic_kv_splits(257), 2);
  EXPECT_EQ(deterministic_kv_splits(1000), 4);
  EXPECT_EQ(deterministic_kv_splits(8192), 32);
}

TEST(DescribedKvSplits, are_one_per_512_keys_and_at_most_eight) {
  EXPECT_EQ(described_kv_splits(1), 1);
  EXPECT_EQ(described_kv_splits(512), 1);
  EXPECT_EQ(described_kv_splits(513), 2);
  EXPECT_EQ(described_kv_splits(1024), 2);
  EXPECT_EQ(described_kv_splits(4096), 8);
  EXPECT_EQ(described_kv_splits(8192), 8);
}

TEST(KvSplitChunk, is_a_multiple_of_the_block) {
  EXPECT_EQ(kv_split_chunk(1000, 3), 352);
  EXPECT_EQ(kv_split_chunk(100, 8), 32);
}

FlashInferDecode flashinfer_decode(std::int64_t page_size) {
  return {.heads_q = 32,
          .heads_kv = 8,
          .head_dim_v = 128,
          .page_size = page_size,
          .multiprocessors = 132};
}

TEST(FlashInferChunkPages, are_the_fewest_whose_chunks_run_all_at_once) {
  // 264 blocks, 8 per chunk: 33 chunks, 7 and 26 of 154 pages. Of 153 pages they would be 34.
  EXPECT_EQ(flashinfer_chunk_pages(Lens{1000 * 16, 4000 * 16}, flashinfer_decode(16)), 154);
  EXPECT_EQ(flashinfer_chunk_pages(Lens{1000, 4000}, flashinfer_decode(1)), 154);
}

TEST(FlashInferChunkPages, hold_at_least_128_tokens) {
  EXPECT_EQ(flashinfer_chunk_pages(Lens{1000}, flashinfer_decode(1)), 128);
  EXPECT_EQ(flashinfer_chunk_pages(Lens{1000}, flashinfer_decode(16)), 8);
  EXPECT_EQ(flashinfer_chunk_pages(Lens{1000}, flashinfer_decode(256)), 1);
  EXPECT_EQ(flashinfer_chunk_pages(Lens{5, 0}, flashinfer_decode(16)), 8);
}

TEST(FlashInferChunkPages, are_the_longest_request_s_where_the_requests_fill_the_grid) {
  EXPECT_EQ(flashinfer_chunk_pages(Lens(33, 8000), flashinfer_decode(16)), 500);
  EXPECT_EQ(flashinfer_chunk_pages(Lens(32, 8000), flashinfer_decode(16)), 500);
  EXPECT_EQ(flashinfer_chunk_pages(Lens(16, 8000), flashinfer_decode(16)), 250);
  Lens two_without_keys(18, 8000);
  two_without_keys[0] = two_without_keys[1] = 0;  // they take blocks all the same
  EXPECT_EQ(flashinfer_chunk_pages(two_without_keys, flashinfer_decode(16)), 500);
}

TEST(FlashInferChunkPages, count_the_pages_of_the_window_and_the_tile_of_queries) {
  FlashInferDecode decode = flashinfer_decode(1);
  decode.sliding_window_size = 8192 - 16;
  // 8192 keys of each: 16 requests may have two chunks, and 11 requests three.
  EXPECT_EQ(flashinfer_chunk_pages(Lens(16, 100'000), decode), 4096);
  EXPECT_EQ(flashinfer_chunk_pages(Lens(11, 100'000), decode), 2731);
  decode.heads_q = 8 * 17;  // rows for a tile of 64
  EXPECT_EQ(flashinfer_chunk_pages(Lens(16, 100'000), decode), 4096 + 24);
  decode.heads_q = 8 * 65;  // of 128
  EXPECT_EQ(flashinfer_chunk_pages(Lens(16, 100'000), decode), 4096 + 56);
}

TEST(FlashInferChunkPages, count_a_block_for_each_tile_of_queries) {
  FlashInferDecode decode = flashinfer_decode(1);
  decode.heads_q = 128;
  decode.heads_kv = 1;
  EXPECT_EQ(flashinfer_chunk_pages(Lens(66, 8192), decode), 2048);  // 264 chunks
  decode.head_dim_v = 256;                                          // two tiles of 64
  EXPECT_EQ(flashinfer_chunk_pages(Lens(66, 8192), decode), 4096);
}

}  // namespace
}  // namespace attnbench
