// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/kv_splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(DynamicKvSplits, refuse_a_request_without_keys) {
  EXPECT_THROW(static_cast<void>(dynamic_kv_splits(Lens{0}, launch(32, 8, 8))), InternalError);
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
}

}  // namespace
}  // namespace attnbench
