// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/batch_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "lib/scenario/testing/cases.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;

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
  EXPECT_THAT(grown(1, 4, 5).parents(3), ElementsAreArray({-1, 0, 1, 2, 3}));
}

TEST(TreeSpec, varies_with_the_seed_alone) {
  EXPECT_EQ(grown(8, 4, 32).parents(1), grown(8, 4, 32).parents(1));
  EXPECT_NE(grown(8, 4, 32).parents(1), grown(8, 4, 32).parents(2));
}

TEST(TreeSpec, keeps_explicit_parents) {
  const TreeSpec tree{{}, std::vector<int>{-1, 0, 0, 1}};
  EXPECT_EQ(tree.tokens(), 4);
  EXPECT_THAT(tree.parents(9), ElementsAreArray({-1, 0, 0, 1}));
}

// Steps of speculative decoding: a draft model's own, and those that verify or extend its drafts.
TEST(DraftSteps, makes_a_request_of_each_branch_that_a_draft_model_decodes) {
  const Case c =
      only_case("batch: [{mode: draft_decode, prefix_len: [37, 0], draft: {topk: 3, step: 2}}]");
  EXPECT_EQ(c.mode, ForwardMode::kDecode);
  EXPECT_EQ(c.draft_topk, 3);
  ASSERT_EQ(c.requests.size(), 6u);
  for (std::size_t r = 0; r < 6; ++r) {
    const Request& branch = c.requests[r];
    EXPECT_EQ(branch.q_len, 1);
    EXPECT_EQ(branch.shared_len, r < 3 ? 37 : 0);
    EXPECT_EQ(branch.kv_len, branch.shared_len + 2 + 1) << "its own tokens, the new one included";
    EXPECT_EQ(branch.shared_prefix, r < 3 ? 0 : -1);
    EXPECT_EQ(branch.group, "draft_decode");
  }
  ASSERT_EQ(c.prefixes.size(), 1u) << "nothing is shared of what is empty";
  EXPECT_EQ(c.prefixes[0].length, 37);
}

TEST(DraftSteps, lets_drafts_share_a_named_prefix_and_branches_what_their_request_adds_to_it) {
  const Case c = only_case(
      "batch: [{name: a, mode: draft_decode, prefix: system, prefix_len: [40, 21], "
      "draft: {topk: 2, step: 2}}, "
      "{name: b, mode: draft_decode, prefix: a.0, draft: {topk: 2, step: 2}}]",
      "prefixes: {system: 21, a.0: {after: system, tokens: 9}}\n");
  ASSERT_EQ(c.requests.size(), 6u);
  const std::vector<int> prefixes = {1, 1, 0, 0, 2, 2};
  const std::vector<std::int64_t> shared = {40, 40, 21, 21, 30, 30}, own = {3, 3, 3, 3, 3, 3};
  for (std::size_t r = 0; r < 6; ++r) {
    SCOPED_TRACE(r);
    EXPECT_EQ(c.requests[r].shared_prefix, prefixes[r]);
    EXPECT_EQ(c.requests[r].shared_len, shared[r]);
    EXPECT_EQ(c.requests[r].kv_len, shared[r] + own[r]);
    EXPECT_EQ(c.requests[r].q_len, 1);
  }
  ASSERT_EQ(c.prefixes.size(), 3u) << "what adds nothing to the named prefix is that prefix";
  EXPECT_EQ(c.prefixes[0].name, "system");
  EXPECT_EQ(c.prefixes[1].length, 40);
  EXPECT_EQ(c.prefixes[1].parent, 0);
  EXPECT_EQ(c.prefixes[2].name, "a.0") << "a file's prefix, not the one of a's first request";
  EXPECT_EQ(c.prefixes[2].length, 30);
}

TEST(DraftSteps, verifies_chains_on_layers_with_dual_chunks) {
  for (const char* tree : {"{chain: 4}", "{parents: [-1, 0, 1, 2]}"}) {
    const Case c =
        only_case(std::string("attention: {dual_chunk: {chunk_size: 64, local_size: 8}}, "
                              "batch: [{mode: target_verify, prefix_len: 100, tree: ") +
                  tree + "}]");
    EXPECT_EQ(c.requests[0].q_len, 4);
    EXPECT_TRUE(c.layer.dual_chunk.exists());
  }
}

TEST(DraftSteps, takes_draft_extends_and_prompts_by_slices_of_layers) {
  const Case v2 = only_case("batch: [{mode: draft_extend_v2, count: 2, q_len: 4, prefix_len: 9}]");
  EXPECT_EQ(v2.mode, ForwardMode::kDraftExtendV2);
  EXPECT_EQ(v2.requests[1].kv_len, 13);
  const Case split = only_case("batch: [{mode: split_prefill, q_len: 4, prefix_len: 9}]");
  EXPECT_EQ(split.mode, ForwardMode::kSplitPrefill);
  const Case chunk =
      only_case("batch: [{mode: split_prefill, prompt_len: 20, chunk: {size: 8, index: 2}}]");
  EXPECT_EQ(chunk.mode, ForwardMode::kSplitPrefill);
  EXPECT_EQ(chunk.requests[0].q_len, 4);
  EXPECT_EQ(chunk.requests[0].kv_len, 20);
}

}  // namespace
}  // namespace attnbench
