// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/kv_splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::Each;
using testing::ElementsAre;
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
  EXPECT_THAT(dynamic_kv_splits(Lens{1000, 4000}, launch(32, 8, 8)), ElementsAre(2, 8));
  EXPECT_THAT(dynamic_kv_splits(Lens{1000}, launch(32, 8, 8)), ElementsAre(8));
  EXPECT_THAT(dynamic_kv_splits(Lens(64, 1024), launch(32, 8, 8)), Each(2));
  EXPECT_THAT(dynamic_kv_splits(Lens{100, 100, 8192}, launch(32, 32, 8)), ElementsAre(1, 1, 8));
  EXPECT_THAT(dynamic_kv_splits(Lens{4096}, launch(128, 1, 16)), ElementsAre(16));
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

TEST(DynamicKvSplits, depend_on_the_branches_of_a_draft) {
  KvSplitLaunch draft = launch(32, 8, 8);
  draft.queries_per_request = 4;
  EXPECT_THAT(dynamic_kv_splits(Lens(64, 1024), draft), Each(1));
  EXPECT_THROW(static_cast<void>(dynamic_kv_splits(Lens{0}, draft)), InternalError);
}

TEST(DeterministicKvSplits, depend_on_the_length_alone) {
  EXPECT_EQ(deterministic_kv_splits(256), 1);
  EXPECT_EQ(deterministic_kv_splits(257), 2);
  EXPECT_EQ(deterministic_kv_splits(1000), 4);
  EXPECT_EQ(deterministic_kv_splits(8192), 32);
}

TEST(KvSplitChunk, is_a_multiple_of_the_block) {
  EXPECT_EQ(kv_split_chunk(1000, 3), 352);
  EXPECT_EQ(kv_split_chunk(100, 8), 32);
  EXPECT_THAT(kv_split_sizes(100, 8), ElementsAre(32, 32, 32, 4, 0, 0, 0, 0));
}

TEST(KvSplitSizes, sum_to_the_length) {
  for (std::int64_t len = 0; len < 700; len += 13) {
    for (const std::int64_t splits : {1, 3, 8}) {
      const auto sizes = kv_split_sizes(len, splits);
      EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), len);
    }
  }
}

TEST(FlashinferDecodePlan, finds_the_smallest_chunk_that_fits_the_grid) {
  const DecodePlan plan = flashinfer_decode_plan(std::vector<std::int64_t>{1000, 4000}, 8, 264, 1);
  EXPECT_TRUE(plan.split);
  EXPECT_EQ(plan.chunk_pages, 154);
  EXPECT_THAT(plan.chunks, ElementsAre(7, 26));
}

TEST(FlashinferDecodePlan, does_not_split_what_fills_the_grid) {
  const DecodePlan plan = flashinfer_decode_plan(std::vector<std::int64_t>(33, 1000), 8, 264, 1);
  EXPECT_FALSE(plan.split);
  EXPECT_THAT(plan.chunks, Each(1));
  EXPECT_EQ(plan.chunk_pages, 1000);
  EXPECT_EQ(flashinfer_decode_plan(std::vector<std::int64_t>(33, 5), 8, 264, 1).chunk_pages, 5);
}

TEST(FlashinferDecodePlan, cuts_no_piece_below_128_tokens) {
  const DecodePlan plan = flashinfer_decode_plan(std::vector<std::int64_t>{16, 0}, 8, 2640, 16);
  EXPECT_EQ(plan.chunk_pages, 8);
  EXPECT_THAT(plan.chunks, ElementsAre(2, 1));
  EXPECT_FALSE(flashinfer_decode_plan(std::vector<std::int64_t>{8}, 8, 2640, 16).split);
}

std::int64_t fa3(std::int64_t total_m_blocks, std::int64_t multiprocessors, std::int64_t n_blocks) {
  Fa3SplitInput input;
  input.total_m_blocks = total_m_blocks;
  input.multiprocessors = multiprocessors;
  input.n_blocks = n_blocks;
  return fa3_num_splits(input);
}

TEST(Fa3NumSplits, takes_the_fewest_splits_near_the_best_wave) {
  EXPECT_EQ(fa3(48, 108, 64), 2);
  EXPECT_EQ(fa3(8, 132, 32), 14);
  EXPECT_EQ(fa3(32, 132, 64), 4);
  EXPECT_EQ(fa3(106, 132, 64), 1);
  EXPECT_EQ(fa3(8, 132, 4), 1);
}

TEST(Fa3NumSplits, cuts_a_kv_head_beyond_the_l2_cache_when_many_queries_read_it) {
  Fa3SplitInput input;
  input.total_m_blocks = 300;
  input.multiprocessors = 132;
  input.n_blocks = 4000;
  input.m_blocks = 300;
  input.kv_head_bytes = 101 * 1024 * 1024;
  input.causal_or_local = false;
  EXPECT_EQ(fa3_num_splits(input), 3);
  input.causal_or_local = true;
  EXPECT_EQ(fa3_num_splits(input), 1);
}

}  // namespace
}  // namespace attnbench
