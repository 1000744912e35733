// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/label_rows.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace attnbench {
namespace {

Case one_decode(std::uint64_t seed) {
  Case c;
  c.seed = seed;
  c.layer.heads_q = 4;
  c.layer.heads_kv = 2;
  c.requests.resize(1);
  c.requests[0].kv_len = 9;
  return c;
}

std::vector<int> channels_of(const Contents& contents, int kv_head, int count) {
  std::vector<int> channels;
  for (int i = 0; i < count; ++i) channels.push_back(heavy_channel(contents, kv_head, i));
  return channels;
}

TEST(HeavyChannels, of_a_kv_head_are_each_there_once_and_no_run) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Case c = one_decode(seed);
    const std::vector<int> all = channels_of(Contents(c, Fill::kNormal), 1, IndexerInputs::kDim);
    const std::set<int> distinct(all.begin(), all.end());
    EXPECT_EQ(distinct.size(), 128u);
    EXPECT_EQ(*distinct.begin(), 0);
    EXPECT_EQ(*distinct.rbegin(), 127);
    EXPECT_NE((all[0] + 1) % 128, all[1]);
    EXPECT_NE((all[1] + 1) % 128, all[0]);
  }
}

TEST(HeavyChannels, are_others_of_the_next_kv_head_and_the_same_in_every_fill) {
  const Case c = one_decode(7);
  const Contents normal(c, Fill::kNormal), timing(c, Fill::kTiming);
  EXPECT_NE(channels_of(normal, 0, 32), channels_of(normal, 1, 32));
  EXPECT_EQ(channels_of(normal, 0, 32), channels_of(timing, 0, 32));
}

TEST(LabelledKey, is_another_of_each_position_and_kv_head) {
  const Case c = one_decode(7);
  const Contents contents(c, Fill::kNormal);
  EXPECT_EQ(labelled_key(contents, 0, 3, 1), labelled_key(contents, 0, 3, 1));
  EXPECT_NE(labelled_key(contents, 0, 3, 1), labelled_key(contents, 0, 3, 0));
  EXPECT_NE(labelled_key(contents, 0, 3, 1), labelled_key(contents, 0, 4, 1));
}

}  // namespace
}  // namespace attnbench
