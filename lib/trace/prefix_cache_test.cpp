// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/prefix_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <random>
#include <vector>

namespace attnbench {
namespace {

using Blocks = std::vector<std::uint32_t>;

TEST(PrefixCache, finds_the_blocks_from_which_a_prompt_begins) {
  PrefixCache cache(6, 6);
  EXPECT_EQ(cache.match(Blocks{0, 1, 2}), 0u);
  cache.insert(Blocks{0, 1, 2});
  EXPECT_EQ(cache.match(Blocks{0, 1, 2}), 3u);
  EXPECT_EQ(cache.match(Blocks{0, 1, 4}), 2u);
  EXPECT_EQ(cache.match(Blocks{3, 1}), 0u) << "behind another first block it is no prefix";
  EXPECT_EQ(cache.match(Blocks{}), 0u);
}

TEST(PrefixCache, gives_up_what_was_used_longest_ago_and_its_end_first) {
  PrefixCache cache(8, 4);
  cache.insert(Blocks{0, 1});
  cache.insert(Blocks{2, 3});
  EXPECT_EQ(cache.match(Blocks{0}), 1u);
  cache.insert(Blocks{4});  // 1 was used longest ago
  EXPECT_EQ(cache.match(Blocks{0, 1}), 1u);
  cache.insert(Blocks{5});
  EXPECT_EQ(cache.match(Blocks{2, 3}), 1u);
  EXPECT_EQ(cache.size(), 4u);
}

TEST(PrefixCache, keeps_the_beginning_of_a_prompt_that_it_cannot_hold) {
  PrefixCache cache(5, 2);
  cache.insert(Blocks{0, 1, 2, 3, 4});
  EXPECT_EQ(cache.match(Blocks{0, 1, 2}), 2u);
  EXPECT_EQ(cache.size(), 2u);
  PrefixCache none(5, 0);
  none.insert(Blocks{0, 1});
  EXPECT_EQ(none.match(Blocks{0}), 0u);
}

TEST(PrefixCache, does_what_a_list_in_order_of_use_does) {
  constexpr std::size_t kCapacity = 7;
  PrefixCache cache(40, kCapacity);
  std::list<std::uint32_t> list;  // newest first
  const auto touch = [&](const Blocks& blocks) {
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      list.remove(*block);
      list.push_front(*block);
      if (list.size() > kCapacity) list.pop_back();
    }
  };
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    Blocks blocks;  // of a tree in which block n stands behind n / 3
    for (auto block = static_cast<std::uint32_t>(random() % 40); block > 0; block /= 3) {
      blocks.insert(blocks.begin(), block);
    }
    Blocks there;
    for (const std::uint32_t block : blocks) {
      if (std::ranges::find(list, block) == list.end()) break;
      there.push_back(block);
    }
    ASSERT_EQ(cache.match(blocks), there.size()) << i;
    touch(there);
    if (i % 3 == 0) {
      cache.insert(blocks);
      touch(blocks);
    }
    ASSERT_EQ(cache.size(), list.size());
  }
}

}  // namespace
}  // namespace attnbench
