// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/prefix_tree.h"

#include <gtest/gtest.h>

#include <vector>

namespace attnbench {
namespace {

/// Two branches behind 37 tokens, one of which goes on, and a prefix of its own.
std::vector<SharedPrefix> two_branches() {
  return {{"system", 37}, {"tools", 67, 0}, {"agent", 72, 1}, {"plain", 48, 0}, {"other", 20}};
}

void expect_range(const TokenRange& range, std::int64_t begin, std::int64_t end) {
  EXPECT_EQ(range.begin, begin);
  EXPECT_EQ(range.end, end);
}

TEST(PrefixTree, knows_what_a_prefix_adds_to_its_parent) {
  const auto prefixes = two_branches();
  expect_range(own_tokens(prefixes, 0), 0, 37);
  expect_range(own_tokens(prefixes, 2), 67, 72);
  expect_range(own_tokens(prefixes, 3), 37, 48);
}

TEST(PrefixTree, shares_whole_pages_of_a_branch_from_its_parents_last_whole_page_on) {
  const auto prefixes = two_branches();
  expect_range(own_whole_pages(prefixes, 0, 16), 0, 32);
  expect_range(own_whole_pages(prefixes, 1, 16), 32, 64);
  expect_range(own_whole_pages(prefixes, 2, 16), 64, 64);
  expect_range(own_whole_pages(prefixes, 3, 16), 32, 48);
  expect_range(own_whole_pages(prefixes, 2, 1), 67, 72);
}

TEST(PrefixTree, finds_who_added_a_token) {
  const auto prefixes = two_branches();
  for (const auto& [position, owner] : {std::pair{0, 0}, {36, 0}, {37, 1}, {66, 1}, {67, 2}}) {
    EXPECT_EQ(prefix_of_token(prefixes, 2, position), owner) << position;
  }
  EXPECT_EQ(prefix_of_token(prefixes, 3, 36), 0);
  EXPECT_EQ(prefix_of_token(prefixes, 3, 37), 3);
}

TEST(PrefixTree, has_in_common_all_of_the_last_common_ancestor) {
  const auto prefixes = two_branches();
  EXPECT_EQ(common_length(prefixes, 2, 3), 37);
  EXPECT_EQ(common_length(prefixes, 3, 2), 37);
  EXPECT_EQ(common_length(prefixes, 2, 1), 67);
  EXPECT_EQ(common_length(prefixes, 1, 2), 67);
  EXPECT_EQ(common_length(prefixes, 2, 2), 72);
  EXPECT_EQ(common_length(prefixes, 2, 4), 0);
  EXPECT_EQ(common_length(prefixes, -1, 0), 0);
  EXPECT_EQ(common_length(prefixes, 0, -1), 0);
}

TEST(PrefixTree, knows_descendants) {
  const auto prefixes = two_branches();
  EXPECT_TRUE(extends(prefixes, 2, 0));
  EXPECT_TRUE(extends(prefixes, 2, 2));
  EXPECT_FALSE(extends(prefixes, 0, 2));
  EXPECT_FALSE(extends(prefixes, 3, 1));
  EXPECT_FALSE(extends(prefixes, -1, 0));
}

}  // namespace
}  // namespace attnbench
