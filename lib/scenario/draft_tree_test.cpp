// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "lib/scenario/draft_tree.h"

namespace attnbench {
namespace {

using testing::ElementsAre;

TreeSpec grown(std::int64_t topk, std::int64_t depth, std::int64_t tokens) {
  return {{}, GrownTree{topk, depth, tokens}};
}

/// A candidate as a node of the tree of all proposals.
struct Proposal {
  int parent = -1;  ///< index of a proposal, -1 for the root
  double score = 1;
  bool kept = false;
};

TEST(TreeSpec, keeps_the_topk_that_a_tree_was_asked_with) {
  EXPECT_EQ(grown(4, 3, 8).topk(), 4);
  EXPECT_EQ((TreeSpec{{}, std::vector<int>{-1, 0, 0}}.topk()), 0);
}

/// The parents that SGLang's selection leaves (semantics: 1 + topk + (depth - 1) topk^2
/// candidates), by sorting a whole list of proposals at every step.
std::vector<int> simulated(std::uint64_t seed, int topk, int depth, int tokens) {
  std::vector<Proposal> all;
  std::vector<int> frontier{-1};
  for (int step = 0; step < depth; ++step) {
    std::vector<int> proposed;
    for (const int parent : frontier) {
      const double above = parent < 0 ? 1 : all[static_cast<std::size_t>(parent)].score;
      for (int k = 0; k < topk; ++k) {
        const auto index = static_cast<int>(all.size());
        all.push_back({parent, above * draft_probability(seed, topk, index)});
        proposed.push_back(index);
      }
    }
    std::ranges::stable_sort(proposed, std::greater{},
                             [&](int i) { return all[static_cast<std::size_t>(i)].score; });
    proposed.resize(static_cast<std::size_t>(topk));
    frontier = proposed;
  }
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return all[i].score; });
  for (int i = 0; i + 1 < tokens; ++i) all[order[static_cast<std::size_t>(i)]].kept = true;

  std::vector<int> parents{-1}, node_of(all.size(), -1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].kept) continue;
    node_of[i] = static_cast<int>(parents.size());
    const int up = all[i].parent;
    parents.push_back(up < 0 ? 0 : node_of[static_cast<std::size_t>(up)]);
  }
  return parents;
}

TEST(TreeSpec, is_the_tree_that_sglangs_selection_draws_from_the_same_scores) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(grown(4, 3, 16).parents(seed), simulated(seed, 4, 3, 16)) << seed;
    EXPECT_EQ(grown(8, 5, 64).parents(seed), simulated(seed, 8, 5, 64)) << seed;
    EXPECT_EQ(grown(3, 2, 13).parents(seed), simulated(seed, 3, 2, 13)) << "every proposal";
  }
}

TEST(TreeSpec, gives_the_better_child_the_larger_probability) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    double sum = 0;
    for (std::int64_t k = 0; k < 4; ++k) {
      const double p = draft_probability(seed, 4, 8 + k);
      EXPECT_GT(p, 0);
      EXPECT_LE(p, k == 0 ? 1 : draft_probability(seed, 4, 8 + k - 1));
      sum += p;
    }
    EXPECT_LE(sum, 1);
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
