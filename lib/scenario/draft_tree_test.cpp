// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "lib/scenario/draft_tree.h"

namespace attnbench {
namespace {

using testing::ElementsAre;

TreeSpec grown(std::int64_t topk, std::int64_t depth, std::int64_t tokens) {
  return {{}, GrownTree{topk, depth, tokens}};
}

std::vector<int> depths(const std::vector<int>& parents) {
  std::vector<int> depth{0};
  for (std::size_t i = 1; i < parents.size(); ++i) {
    depth.push_back(depth[static_cast<std::size_t>(parents[i])] + 1);
  }
  return depth;
}

TEST(TreeSpec, grows_topk_tokens_a_level_until_they_are_enough) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<int> parents = grown(4, 4, 15).parents(seed);
    ASSERT_EQ(parents.size(), 15u);
    EXPECT_EQ(parents[0], -1);
    EXPECT_THAT(depths(parents), ElementsAre(0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4));
  }
}

TEST(TreeSpec, is_a_chain_with_topk_1) {
  EXPECT_THAT(grown(1, 4, 5).parents(3), ElementsAre(-1, 0, 1, 2, 3));
}

TEST(TreeSpec, varies_with_the_seed_alone) {
  EXPECT_EQ(grown(8, 4, 32).parents(1), grown(8, 4, 32).parents(1));
  EXPECT_NE(grown(8, 4, 32).parents(1), grown(8, 4, 32).parents(2));
}

TEST(TreeSpec, keeps_explicit_parents) {
  const TreeSpec tree{{}, std::vector<int>{-1, 0, 0, 1}};
  EXPECT_EQ(tree.tokens(), 4);
  EXPECT_THAT(tree.parents(9), ElementsAre(-1, 0, 0, 1));
}

}  // namespace
}  // namespace attnbench
