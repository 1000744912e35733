// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/draft_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/error.h"
#include "lib/batch/draft_tree.h"

namespace attnbench {
namespace {

using testing::ElementsAre;

TEST(DraftSelection, expands_the_best_candidates_and_keeps_the_best_of_all_steps) {
  // Two steps of topk 2: candidates 0 and 1 after the root, 2 and 3 after 0, 4 and 5 after 1.
  const std::vector<double> probabilities = {.6, .4, .5, .3, .9, .1};
  const auto given = [&](std::int64_t i) { return probabilities[static_cast<std::size_t>(i)]; };
  const DraftSelection selection = select_draft_tokens(2, 2, 4, given);
  EXPECT_THAT(selection.parent_list, ElementsAre(-1, 0, 1));
  // Scores: .6 .4 .3 .18 .36 .04
  EXPECT_THAT(selection.selected_index, ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(build_tree(selection.selected_index, selection.parent_list, 2),
              ElementsAre(-1, 0, 0, 1, 2));
}

TEST(DraftSelection, prefers_a_child_of_a_likely_parent_to_a_likelier_one_of_an_unlikely_parent) {
  const std::vector<double> probabilities = {.9, .1, .5, .4, .6, .3};
  const auto given = [&](std::int64_t i) { return probabilities[static_cast<std::size_t>(i)]; };
  // Scores: .9 .1 .45 .36 .06 .03
  EXPECT_THAT(select_draft_tokens(2, 2, 3, given).selected_index, ElementsAre(0, 2, 3));
}

TEST(DraftSelection, of_equal_scores_takes_the_earlier_candidates) {
  const auto certain = [](std::int64_t) { return 1.0; };
  EXPECT_THAT(select_draft_tokens(2, 3, 3, certain).selected_index, ElementsAre(0, 1, 2));
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
