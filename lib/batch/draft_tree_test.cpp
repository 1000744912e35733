// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "lib/base/error.h"
#include "lib/batch/draft_tree.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;
using Parents = std::vector<int>;
using Ids = std::vector<std::int64_t>;
using Lens = std::vector<std::int32_t>;

// 0 -> {1, 2, 3}, 1 -> {4, 5}
const Parents kTree = {-1, 0, 0, 0, 1, 1};

TEST(DraftTree, knows_depths_first_children_and_siblings) {
  EXPECT_THAT(tree_depths(kTree), ElementsAreArray({0, 1, 1, 1, 2, 2}));
  EXPECT_FALSE(is_chain(kTree));
  EXPECT_TRUE(is_chain(Parents{-1, 0, 1}));
  EXPECT_FALSE(is_chain(Parents{-1, 0, 0}));
  EXPECT_TRUE(is_chain(Parents{}));
  EXPECT_THAT(retrive_next_token(kTree), ElementsAreArray({1, 4, -1, -1, -1, -1}));
  EXPECT_THAT(retrive_next_sibling(kTree), ElementsAreArray({-1, 2, 3, -1, 5, -1}));
}

TEST(DraftTree, shows_each_node_its_ancestors_and_itself) {
  EXPECT_THAT(tree_visibility(kTree), ElementsAreArray({1, 0, 0, 0, 0, 0,  //
                                                        1, 1, 0, 0, 0, 0,  //
                                                        1, 0, 1, 0, 0, 0,  //
                                                        1, 0, 0, 1, 0, 0,  //
                                                        1, 1, 0, 0, 1, 0,  //
                                                        1, 1, 0, 0, 0, 1}));
}

TEST(DraftTree, is_found_from_the_selected_candidates) {
  // topk 3: candidates 0..2 hang from the root, 3..5 from candidate 0, 6..8 from candidate 1.
  const Ids parent_list = {-1, 0, 1, 2};
  EXPECT_EQ(build_tree(Ids{0, 1, 2, 3, 4}, parent_list, 3), kTree);
  EXPECT_EQ(build_tree(Ids{0, 2, 4, 9}, parent_list, 3), (Parents{-1, 0, 0, 1, 2}));
}

TEST(DraftTree, with_one_branch_is_a_chain) {
  EXPECT_EQ(build_tree(Ids{0, 1, 2}, Ids{-1, 0, 1}, 1), (Parents{-1, 0, 1, 2}));
}

TEST(DraftTree, without_draft_tokens_is_its_root) {
  const Parents root = build_tree(Ids{}, Ids{}, 1);
  EXPECT_THAT(retrive_next_token(root), ElementsAreArray({-1}));
  EXPECT_THAT(tree_visibility(root), ElementsAreArray({1}));
}

TEST(DraftTree, refuses_what_is_not_a_tree_in_order) {
  EXPECT_THROW(static_cast<void>(tree_depths(Parents{})), InternalError);
  EXPECT_THROW(static_cast<void>(tree_depths(Parents{0})), InternalError);
  EXPECT_THROW(static_cast<void>(tree_depths(Parents{-1, -1})), InternalError);
  EXPECT_THROW(static_cast<void>(tree_depths(Parents{-1, 2, 0})), InternalError);
}

TEST(DraftTree, refuses_a_candidate_whose_parent_was_not_selected) {
  EXPECT_THROW(static_cast<void>(build_tree(Ids{1, 3}, Ids{-1, 0, 1, 2}, 3)), InternalError);
  EXPECT_THROW(static_cast<void>(build_tree(Ids{0, 12}, Ids{-1, 0, 1, 2}, 3)), InternalError);
  EXPECT_THROW(static_cast<void>(build_tree(Ids{-1}, Ids{-1, 0, 1, 2}, 3)), InternalError);
}

TEST(SpecInfo, carries_the_trees_of_all_requests) {
  const std::vector<Parents> trees = {kTree, {-1, 0, 1, 2, 3, 4}};
  const SpecInfo info = make_spec_info(trees, std::vector<std::int32_t>{3, 5});
  EXPECT_EQ(info.draft_token_num, 6);
  EXPECT_EQ(info.topk, 3);
  EXPECT_THAT(info.mask_indptr, ElementsAreArray({0, 54, 120}));
  EXPECT_EQ(info.custom_mask.size(), 120u);
  EXPECT_THAT(info.retrive_index, ElementsAreArray({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_THAT(info.retrive_next_token, ElementsAreArray({1, 4, -1, -1, -1, -1, 1, 2, 3, 4, 5, -1}));
  EXPECT_THAT(info.retrive_next_sibling,
              ElementsAreArray({-1, 2, 3, -1, 5, -1, -1, -1, -1, -1, -1, -1}));
  EXPECT_THAT(info.retrieve_parent_token, ElementsAreArray({-1, 0, 0, 0, 1, 1, -1, 0, 1, 2, 3, 4}));
}

TEST(SpecInfo, of_chains_has_topk_one) {
  const SpecInfo info =
      make_spec_info(std::vector<Parents>(2, {-1, 0, 1}), std::vector<std::int32_t>{3, 5});
  EXPECT_EQ(info.topk, 1);
}

TEST(SpecInfo, refuses_trees_of_different_sizes) {
  const std::vector<Parents> trees = {{-1, 0}, {-1}};
  EXPECT_THROW(static_cast<void>(make_spec_info(trees, std::vector<std::int32_t>{3, 5})),
               InternalError);
}

/// Of requests that all have this tree.
SpecInfo spec_of(const Parents& parents, const Lens& lens = {3}) {
  return make_spec_info(std::vector<Parents>(lens.size(), parents), lens);
}

TEST(TreeVisibility, of_a_batch_is_that_of_its_trees) {
  const auto one = tree_visibility(kTree);
  auto two = one;
  two.insert(two.end(), one.begin(), one.end());
  EXPECT_EQ(tree_visibility(spec_of(kTree, {3, 5})), two);
}

TEST(PackTreeRows, writes_one_little_endian_word_per_node) {
  EXPECT_THAT(pack_tree_rows(spec_of(kTree)), ElementsAreArray({1, 3, 5, 9, 19, 35}));
}

TEST(PackTreeRows, takes_two_bytes_above_8_nodes_and_four_above_16) {
  const auto chain = [](int nodes) {
    Parents parents(static_cast<std::size_t>(nodes));
    std::iota(parents.begin(), parents.end(), -1);
    return parents;
  };
  EXPECT_EQ(pack_tree_rows(spec_of(chain(8))).size(), 8u);
  const auto two = pack_tree_rows(spec_of(chain(9)));
  ASSERT_EQ(two.size(), 18u);
  EXPECT_EQ(two[16], 0xff);
  EXPECT_EQ(two[17], 0x01);
  EXPECT_EQ(pack_tree_rows(spec_of(chain(16))).size(), 32u);
  EXPECT_EQ(pack_tree_rows(spec_of(chain(17))).size(), 68u);
  EXPECT_EQ(pack_tree_rows(spec_of(chain(32))).size(), 128u);
  EXPECT_THROW(static_cast<void>(pack_tree_rows(spec_of(chain(33)))), InternalError);
}

TEST(FullMask, shows_the_whole_prefix_then_the_tree) {
  const std::vector<Parents> trees = {kTree, kTree};
  const auto mask = full_mask(trees, Lens{3, 5});
  EXPECT_THAT(mask_indptr(6, Lens{3, 5}), ElementsAreArray({0, 54, 120}));
  ASSERT_EQ(mask.size(), 120u);
  EXPECT_THAT(std::vector(mask.begin() + 18, mask.begin() + 27),
              ElementsAreArray({1, 1, 1, 1, 0, 1, 0, 0, 0}));
}

TEST(MaskIndptr, counts_in_64_bits) {
  EXPECT_EQ(mask_indptr(64, std::vector<std::int32_t>(300, 131072)).back(),
            300 * 64 * (131072LL + 64));
}

TEST(PackMask, packs_each_request_on_its_own) {
  const std::vector<Parents> trees = {kTree, kTree};
  const auto packed = pack_mask(full_mask(trees, Lens{3, 5}), mask_indptr(6, Lens{3, 5}));
  EXPECT_THAT(packed.bytes, ElementsAreArray({15, 62, 188, 120, 242, 233, 35,  //
                                              63, 248, 195, 47, 126, 242, 167, 63, 2}));
  EXPECT_THAT(packed.indptr, ElementsAreArray({0, 7, 16}));
  EXPECT_THROW(
      static_cast<void>(pack_mask(std::vector<std::uint8_t>(3), std::vector<std::int64_t>{0, 4})),
      InternalError);
}

TEST(PackMask, of_whole_bytes_adds_none) {
  const std::vector<std::uint8_t> mask(24, 1);
  const PackedMask packed = pack_mask(mask, std::vector<std::int64_t>{0, 8, 24});
  EXPECT_THAT(packed.bytes, ElementsAreArray({255, 255, 255}));
  EXPECT_THAT(packed.indptr, ElementsAreArray({0, 1, 3}));
}

TEST(TwoStageDraftTable, puts_visible_slots_first) {
  const std::vector<std::int64_t> slots = {40, 41, 42, 43, 44, 45};
  const DraftTable table = two_stage_draft_table(spec_of(kTree), slots);
  EXPECT_THAT(table.cache_seqlens, ElementsAreArray({1, 2, 2, 2, 3, 3}));
  EXPECT_THAT(std::vector(table.page_table.begin() + 24, table.page_table.begin() + 30),
              ElementsAreArray({40, 41, 44, 42, 43, 45}));
}

TEST(TwoStageDraftTable, of_each_request_has_its_own_slots) {
  const std::vector<std::int64_t> slots = {40, 41, 42, 43, 44, 45, 60, 61, 62, 63, 64, 65};
  const DraftTable table = two_stage_draft_table(spec_of(kTree, {3, 5}), slots);
  EXPECT_THAT(std::vector(table.page_table.begin() + 60, table.page_table.begin() + 66),
              ElementsAreArray({60, 61, 64, 62, 63, 65}));
}

/// Softmax-weighted mean of scalar values, and its log-sum-exp.
struct Partial {
  double out = 0;
  double lse = -INFINITY;
};

Partial attend(const std::vector<double>& logits, const std::vector<double>& values) {
  double sum = 0;
  double out = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    sum += std::exp(logits[i]);
    out += std::exp(logits[i]) * values[i];
  }
  return {out / sum, std::log(sum)};
}

TEST(TwoStageDraftTable, merged_with_the_prefix_equals_the_full_mask) {
  constexpr std::size_t kPrefix = 7;
  const std::size_t nodes = kTree.size();
  std::vector<std::int64_t> slots(nodes);
  std::iota(slots.begin(), slots.end(), static_cast<std::int64_t>(kPrefix));
  const auto mask = full_mask(std::vector<Parents>{kTree}, Lens{kPrefix});
  const DraftTable table = two_stage_draft_table(spec_of(kTree), slots);

  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> values(kPrefix + nodes);
  for (double& value : values) value = normal(random);
  for (std::size_t i = 0; i < nodes; ++i) {
    std::vector<double> logits(kPrefix + nodes);
    for (double& logit : logits) logit = normal(random);
    std::vector<double> seen_logits;
    std::vector<double> seen_values;
    for (std::size_t j = 0; j < logits.size(); ++j) {
      if (mask[i * logits.size() + j] == 0) continue;
      seen_logits.push_back(logits[j]);
      seen_values.push_back(values[j]);
    }
    const Partial whole = attend(seen_logits, seen_values);

    const Partial prefix = attend({logits.begin(), logits.begin() + kPrefix},
                                  {values.begin(), values.begin() + kPrefix});
    std::vector<double> draft_logits;
    std::vector<double> draft_values;
    for (std::int32_t j = 0; j < table.cache_seqlens[i]; ++j) {
      const auto slot =
          static_cast<std::size_t>(table.page_table[i * nodes + static_cast<std::size_t>(j)]);
      draft_logits.push_back(logits[slot]);
      draft_values.push_back(values[slot]);
    }
    const Partial draft = attend(draft_logits, draft_values);
    const double lse = std::log(std::exp(prefix.lse) + std::exp(draft.lse));
    const double merged =
        std::exp(prefix.lse - lse) * prefix.out + std::exp(draft.lse - lse) * draft.out;
    EXPECT_NEAR(merged, whole.out, 1e-12);
    EXPECT_NEAR(lse, whole.lse, 1e-12);
  }
}

TEST(DraftSelection, expands_the_best_candidates_and_keeps_the_best_of_all_steps) {
  // Two steps of topk 2: candidates 0 and 1 after the root, 2 and 3 after 0, 4 and 5 after 1.
  const std::vector<double> probabilities = {.6, .4, .5, .3, .9, .1};
  const auto given = [&](std::int64_t i) { return probabilities[static_cast<std::size_t>(i)]; };
  const DraftSelection selection = select_draft_tokens(2, 2, 4, given);
  EXPECT_THAT(selection.parent_list, ElementsAreArray({-1, 0, 1}));
  // Scores: .6 .4 .3 .18 .36 .04
  EXPECT_THAT(selection.selected_index, ElementsAreArray({0, 1, 2, 4}));
  EXPECT_THAT(build_tree(selection.selected_index, selection.parent_list, 2),
              ElementsAreArray({-1, 0, 0, 1, 2}));
}

TEST(DraftSelection, prefers_a_child_of_a_likely_parent_to_a_likelier_one_of_an_unlikely_parent) {
  const std::vector<double> probabilities = {.9, .1, .5, .4, .6, .3};
  const auto given = [&](std::int64_t i) { return probabilities[static_cast<std::size_t>(i)]; };
  // Scores: .9 .1 .45 .36 .06 .03
  EXPECT_THAT(select_draft_tokens(2, 2, 3, given).selected_index, ElementsAreArray({0, 2, 3}));
}

TEST(DraftSelection, of_equal_scores_takes_the_earlier_candidates) {
  const auto certain = [](std::int64_t) { return 1.0; };
  EXPECT_THAT(select_draft_tokens(2, 3, 3, certain).selected_index, ElementsAreArray({0, 1, 2}));
}

TEST(DraftSelection, can_keep_topk_squared_tokens_of_each_step_after_the_first) {
  EXPECT_EQ(draft_candidates(4, 3), 36);
  EXPECT_EQ(draft_candidates(8, 5), 264);
  const auto half = [](std::int64_t) { return 0.5; };
  EXPECT_EQ(select_draft_tokens(4, 3, 36, half).selected_index.size(), 36u);
  EXPECT_THROW(static_cast<void>(select_draft_tokens(4, 3, 37, half)), InternalError);
}

}  // namespace

}  // namespace attnbench
