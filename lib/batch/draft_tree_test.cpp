// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/draft_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using Parents = std::vector<int>;
using Ids = std::vector<std::int64_t>;

// 0 -> {1, 2, 3}, 1 -> {4, 5}
const Parents kTree = {-1, 0, 0, 0, 1, 1};

TEST(DraftTree, knows_depths_first_children_and_siblings) {
  EXPECT_THAT(tree_depths(kTree), ElementsAre(0, 1, 1, 1, 2, 2));
  EXPECT_FALSE(is_chain(kTree));
  EXPECT_TRUE(is_chain(Parents{-1, 0, 1}));
  EXPECT_FALSE(is_chain(Parents{-1, 0, 0}));
  EXPECT_TRUE(is_chain(Parents{}));
  EXPECT_THAT(retrive_next_token(kTree), ElementsAre(1, 4, -1, -1, -1, -1));
  EXPECT_THAT(retrive_next_sibling(kTree), ElementsAre(-1, 2, 3, -1, 5, -1));
}

TEST(DraftTree, shows_each_node_its_ancestors_and_itself) {
  EXPECT_THAT(tree_visibility(kTree), ElementsAre(1, 0, 0, 0, 0, 0,  //
                                                  1, 1, 0, 0, 0, 0,  //
                                                  1, 0, 1, 0, 0, 0,  //
                                                  1, 0, 0, 1, 0, 0,  //
                                                  1, 1, 0, 0, 1, 0,  //
                                                  1, 1, 0, 0, 0, 1));
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
  EXPECT_THAT(retrive_next_token(root), ElementsAre(-1));
  EXPECT_THAT(tree_visibility(root), ElementsAre(1));
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
  EXPECT_THAT(info.mask_indptr, ElementsAre(0, 54, 120));
  EXPECT_EQ(info.custom_mask.size(), 120u);
  EXPECT_THAT(info.retrive_index, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(info.retrive_next_token, ElementsAre(1, 4, -1, -1, -1, -1, 1, 2, 3, 4, 5, -1));
  EXPECT_THAT(info.retrive_next_sibling, ElementsAre(-1, 2, 3, -1, 5, -1, -1, -1, -1, -1, -1, -1));
  EXPECT_THAT(info.retrieve_parent_token, ElementsAre(-1, 0, 0, 0, 1, 1, -1, 0, 1, 2, 3, 4));
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

}  // namespace
}  // namespace attnbench
