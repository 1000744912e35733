// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists of hierarchical sparse attention, and the keys that a query sees by them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "lib/base/int_math.h"
#include "lib/batch/chosen_keys.h"
#include "lib/batch/key_set.h"

namespace attnbench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

using Runs = std::vector<KeyRun>;

AttentionLayer layer_of(const Selection& selection) {
  AttentionLayer layer;
  layer.heads_q = 8;
  layer.heads_kv = 2;
  layer.selection = selection;
  return layer;
}

std::vector<std::int32_t> listed_by(const ChosenKeys& chosen, std::int64_t token,
                                    std::int64_t group = 0) {
  const auto list = chosen.list(token, group);
  return {list.begin(), list.end()};
}

// The worked example of 10 keys in pages of 4, the query at position 9. A window of 4 touches the
// second and the third page, one of 2 the third only.
TEST(HierarchicalLists, have_the_pages_that_no_key_of_the_window_touches) {
  Selection rule{.topk = 3, .unit = 4, .window = 4};
  EXPECT_THAT(listed_by(choose_keys(layer_of(rule), 9, 1, 7), 0), ElementsAre(0));
  rule.window = 2;
  EXPECT_THAT(listed_by(choose_keys(layer_of(rule), 9, 1, 7), 0), ElementsAre(0, 1));
}

TEST(HierarchicalLists, have_complete_pages_only) {
  const auto candidates = [](std::int64_t window, std::int64_t keys) {
    return Selection{.topk = 3, .unit = 4, .window = window, .softmax = SelectionSoftmax::kUnits}
        .candidates(keys - 1);
  };
  EXPECT_EQ(candidates(0, 3), 0) << "fewer keys than a page has";
  EXPECT_EQ(candidates(0, 4), 1) << "at the end of a page";
  EXPECT_EQ(candidates(0, 10), 2);
  EXPECT_EQ(candidates(1, 8), 1) << "the window begins with the last key of a page";
  EXPECT_EQ(candidates(1, 9), 2) << "and behind it";
  EXPECT_EQ(candidates(9, 9), 0) << "a window of all keys";
  EXPECT_EQ(candidates(100, 9), 0);
  EXPECT_EQ(candidates(0, 0), 0) << "a query before key 0";
  EXPECT_EQ((Selection{.topk = 3, .unit = 4}.candidates(9)), 3) << "not of other selections";
}

TEST(HierarchicalLists, of_fewer_candidates_than_entries_leave_the_others_empty) {
  const ChosenKeys chosen = choose_keys(layer_of({.topk = 4, .unit = 4, .window = 3}), 2, 10, 7);
  EXPECT_THAT(listed_by(chosen, 0), IsEmpty()) << "position 2: inside of the window";
  EXPECT_THAT(listed_by(chosen, 9), ElementsAre(0, 1)) << "position 11";
  EXPECT_THAT(std::vector(chosen.indices.end() - 4, chosen.indices.end()),
              ElementsAre(0, 1, -1, -1));
  const Selection holes{.topk = 4, .unit = 4, .pattern = SelectionPattern::kHoles, .window = 3};
  EXPECT_THAT(listed_by(choose_keys(layer_of(holes), 2, 1, 7), 0), ElementsAre(-1, -1, -1, -1));
  const Selection twice{
      .topk = 4, .unit = 4, .pattern = SelectionPattern::kDuplicates, .window = 3};
  EXPECT_THAT(listed_by(choose_keys(layer_of(twice), 2, 1, 7), 0), IsEmpty());
}

TEST(HierarchicalLists, of_every_pattern_are_full_and_end_before_the_window) {
  for (const SelectionPattern pattern : kDrawnPatterns) {
    const Selection rule{.topk = 5, .unit = 3, .pattern = pattern, .page_size = 6, .window = 7};
    const ChosenKeys chosen = choose_keys(layer_of(rule), 0, 200, 11);
    for (std::int64_t token = 0; token < 200; ++token) {
      const std::int64_t candidates = rule.candidates(token);
      std::set<std::int32_t> named;
      for (const std::int32_t unit : listed_by(chosen, token)) {
        if (unit >= 0) named.insert(unit);
        ASSERT_LE((unit + 1) * 3, std::max<std::int64_t>(token + 1 - 7, 0)) << to_string(pattern);
      }
      const std::int64_t room =
          pattern == SelectionPattern::kDuplicates || pattern == SelectionPattern::kHoles ? 3 : 5;
      ASSERT_EQ(std::ssize(named), std::min(room, candidates))
          << to_string(pattern) << " " << token;
    }
  }
}

TEST(HierarchicalLists, of_kv_heads_that_see_only_the_window_are_empty) {
  const Selection rule{
      .topk = 2, .unit = 4, .groups = SelectionGroups::kKvHeads, .window = 4, .window_heads = 1};
  const ChosenKeys chosen = choose_keys(layer_of(rule), 20, 1, 7);
  EXPECT_THAT(listed_by(chosen, 0, 0), IsEmpty());
  EXPECT_EQ(listed_by(chosen, 0, 1).size(), 2u);
  const KeySet keys(layer_of(rule), {.q_len = 1, .kv_len = 21}, chosen);
  EXPECT_EQ(keys.runs(0, 0), (Runs{{17, 21}}));
  EXPECT_EQ(keys.pairs(1), 8) << "and the others see only their lists";
}

TEST(HierarchicalLists, beside_a_window_show_both) {
  AttentionLayer layer = layer_of({.topk = 2, .unit = 4, .window = 3, .fuses_window = true});
  const ChosenKeys lists{.indices = {1, -1, 0, 1}, .lengths = {2, 2}, .width = 2, .unit = 4};
  const KeySet keys(layer, {.q_len = 2, .kv_len = 13}, lists);
  EXPECT_EQ(keys.runs(0), (Runs{{4, 8}, {9, 12}})) << "key 8 is in a page that the window cuts";
  EXPECT_EQ(keys.runs(1), (Runs{{0, 8}, {10, 13}}));
  EXPECT_EQ(keys.pairs(), 7 + 11);
  EXPECT_EQ(keys.seen(), (Runs{{0, 8}, {9, 13}}));
  layer.selection.fuses_window = false;
  EXPECT_EQ(KeySet(layer, {.q_len = 2, .kv_len = 13}, lists).runs(0), (Runs{{4, 8}}));
}

TEST(HierarchicalLists, show_no_landmark_selected_or_in_the_window) {
  const AttentionLayer layer =
      layer_of({.topk = 2, .unit = 4, .window = 6, .fuses_window = true, .has_landmarks = true});
  const ChosenKeys lists{.indices = {1, -1}, .lengths = {2}, .width = 2, .unit = 4};
  const KeySet keys(layer, {.q_len = 1, .kv_len = 16}, lists);
  EXPECT_EQ(keys.runs(0), (Runs{{4, 7}, {10, 11}, {12, 15}})) << "7, 11 and the query's own are";
  EXPECT_EQ(keys.seen(), keys.runs(0));
  EXPECT_EQ(keys.pairs(), 7);
}

TEST(HierarchicalLists, weigh_their_entries_and_no_others) {
  const Selection rule{.topk = 4,
                       .unit = 8,
                       .groups = SelectionGroups::kKvHeads,
                       .pattern = SelectionPattern::kHoles,
                       .window = 2,
                       .softmax = SelectionSoftmax::kUnits};
  const ChosenKeys chosen = choose_keys(layer_of(rule), 60, 3, 7);
  ASSERT_EQ(chosen.scores.size(), chosen.indices.size());
  std::set<float> different;
  for (std::size_t i = 0; i < chosen.scores.size(); ++i) {
    if (chosen.indices[i] < 0) {
      EXPECT_EQ(chosen.scores[i], -INFINITY);
      continue;
    }
    EXPECT_NEAR(chosen.scores[i], std::log(8), 2);
    different.insert(chosen.scores[i]);
  }
  EXPECT_GT(different.size(), 10u);
  EXPECT_EQ(choose_keys(layer_of(rule), 61, 1, 7).scores, chosen.of_tokens(1, 1).scores);
  ChosenKeys padded = chosen;
  padded.pad(4);
  EXPECT_THAT(padded.of_tokens(3, 1).scores, Each(-INFINITY));
}

}  // namespace
}  // namespace attnbench
