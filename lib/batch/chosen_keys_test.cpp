// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/chosen_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace attnbench {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;

using enum SelectionPattern;
using List = std::vector<std::int32_t>;

AttentionLayer layer_with(const Selection& selection) {
  AttentionLayer layer;
  layer.heads_q = 8;
  layer.heads_kv = 2;
  layer.selection = selection;
  return layer;
}

/// All columns of a list.
List columns_of(const ChosenKeys& chosen, std::int64_t token, std::int64_t group = 0) {
  const auto begin = chosen.indices.begin() + (token * chosen.groups + group) * chosen.width;
  return {begin, begin + chosen.width};
}

List list_of(const ChosenKeys& chosen, std::int64_t token, std::int64_t group = 0) {
  const auto list = chosen.list(token, group);
  return {list.begin(), list.end()};
}

std::size_t in_common(List a, List b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  List both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both.size();
}

TEST(ChosenKeys, of_a_query_that_sees_no_more_than_its_list_has_room_for_are_all) {
  const ChosenKeys chosen = choose_keys(layer_with({.topk = 4}), 0, 4, 7);
  EXPECT_THAT(columns_of(chosen, 0), ElementsAre(0, -1, -1, -1));
  EXPECT_THAT(columns_of(chosen, 2), ElementsAre(0, 1, 2, -1));
  EXPECT_THAT(columns_of(chosen, 3), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(chosen.lengths, ElementsAre(1, 2, 3, 4));
}

TEST(ChosenKeys, fill_a_short_list_up_in_one_of_three_ways) {
  Selection selection{.topk = 5, .unit = 2, .padding = SelectionPadding::kFront};
  ChosenKeys chosen = choose_keys(layer_with(selection), 4, 1, 7);
  EXPECT_THAT(columns_of(chosen, 0), ElementsAre(-1, -1, 0, 1, 2));
  EXPECT_THAT(chosen.lengths, ElementsAre(5));
  selection.padding = SelectionPadding::kRepeat;
  chosen = choose_keys(layer_with(selection), 3, 1, 7);
  EXPECT_THAT(columns_of(chosen, 0), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(chosen.lengths, ElementsAre(2));
}

TEST(ChosenKeys, of_a_query_before_key_0_are_none) {
  for (const SelectionPadding padding : kSelectionPaddings) {
    const ChosenKeys chosen = choose_keys(layer_with({.topk = 3, .padding = padding}), -2, 3, 7);
    EXPECT_THAT(columns_of(chosen, 0), Each(-1));
    EXPECT_THAT(columns_of(chosen, 1), Each(-1));
    EXPECT_THAT(list_of(chosen, 2), Contains(0));
  }
}

constexpr std::pair<std::int64_t, SelectionTail> kUnits[] = {
    {1, SelectionTail::kCounted}, {3, SelectionTail::kCounted}, {16, SelectionTail::kCounted},
    {3, SelectionTail::kOpen},    {16, SelectionTail::kOpen},   {16, SelectionTail::kOwn}};

TEST(ChosenKeys, name_no_unit_unasked_twice_none_that_is_hidden_and_always_the_query_s_own) {
  for (const SelectionPattern pattern : kDrawnPatterns) {
    for (const std::int64_t topk : {1, 2, 5, 64}) {
      for (const auto& [unit, tail] : kUnits) {
        if (tail != SelectionTail::kCounted && topk == 1) continue;
        SCOPED_TRACE(std::string(to_string(pattern)) + " " + std::to_string(topk) + " of " +
                     std::to_string(unit) + " " + std::string(to_string(tail)));
        const AttentionLayer layer = layer_with({.topk = topk,
                                                 .unit = unit,
                                                 .tail = tail,
                                                 .groups = SelectionGroups::kKvHeads,
                                                 .pattern = pattern,
                                                 .overlap = 1});
        const std::int64_t first = 2 * topk * unit - 70;
        const ChosenKeys chosen = choose_keys(layer, first, 150, 7);
        for (std::int64_t token = 0; token < 150; ++token) {
          for (std::int64_t group = 0; group < 2; ++group) {
            if (first + token < 0) continue;
            const List list = list_of(chosen, token, group);
            const auto own = static_cast<std::int32_t>((first + token) / unit);
            std::set<std::int32_t> named(list.begin(), list.end());
            named.erase(-1);
            const bool full = pattern == kDuplicates || pattern == kHoles;
            const bool none_open = tail == SelectionTail::kOpen && (first + token + 1) % unit == 0;
            const std::int64_t most = topk - (none_open ? 1 : 0);
            const std::int64_t room = pattern == kDuplicates ? (most + 1) / 2
                                      : pattern == kHoles
                                          ? std::max<std::int64_t>(most - (most + 3) / 4, 1)
                                          : most;
            const std::int64_t units = std::min<std::int64_t>(room, own + 1);
            ASSERT_EQ(std::ssize(list), full ? most : units);
            ASSERT_EQ(std::ssize(named), units);
            ASSERT_THAT(list, Contains(own));
            ASSERT_EQ(std::ranges::max(list), own);
            ASSERT_GE(std::ranges::min(list), pattern == kHoles ? -1 : 0);
          }
        }
      }
    }
  }
}

TEST(ChosenKeys, of_a_token_depend_neither_on_those_beside_it_nor_on_the_step) {
  for (const SelectionPattern pattern : kDrawnPatterns) {
    const AttentionLayer layer = layer_with({.topk = 9, .pattern = pattern});
    const ChosenKeys all = choose_keys(layer, 100, 50, 3);
    for (const std::int64_t token : {0, 17, 49}) {
      EXPECT_EQ(list_of(all, token), list_of(choose_keys(layer, 100 + token, 1, 3), 0));
    }
    EXPECT_EQ(all.of_tokens(5, 2).indices, choose_keys(layer, 105, 2, 3).indices);
  }
}

TEST(ChosenKeys, differ_between_groups_requests_and_queries) {
  const AttentionLayer layer = layer_with({.topk = 20, .groups = SelectionGroups::kKvHeads});
  const ChosenKeys chosen = choose_keys(layer, 5000, 2, 3);
  EXPECT_LT(in_common(list_of(chosen, 0, 0), list_of(chosen, 0, 1)), 5U);
  EXPECT_LT(in_common(list_of(chosen, 0, 0), list_of(chosen, 1, 0)), 5U);
  EXPECT_LT(in_common(list_of(chosen, 0), list_of(choose_keys(layer, 5000, 1, 4), 0)), 5U);
}

TEST(ChosenKeys, reach_over_the_whole_context) {
  const ChosenKeys chosen = choose_keys(layer_with({.topk = 200}), 99999, 1, 3);
  std::vector<int> tenths(10);
  for (const std::int32_t key : chosen.list(0, 0)) ++tenths[static_cast<std::size_t>(key / 10000)];
  EXPECT_THAT(tenths, Each(testing::AllOf(testing::Gt(5), testing::Lt(40))));
}

/// Keys that the query behind `keys` - 1 others sees.
std::int64_t keys_seen(const Selection& selection, std::int64_t keys) {
  const ChosenKeys chosen = choose_keys(layer_with(selection), keys - 1, 1, 7);
  std::int64_t seen = 0;
  for (const std::int32_t unit : chosen.list(0, 0)) {
    if (unit >= 0) seen += std::min(selection.unit, keys - unit * selection.unit);
  }
  return seen;
}

// The figures are those of the models' own code (semantics of 2026-11, A3).
TEST(ChosenKeys, of_a_tail_are_seen_beside_the_complete_pools) {
  constexpr Selection kGlm{.topk = 129, .unit = 16, .tail = SelectionTail::kOpen};
  EXPECT_EQ(keys_seen(kGlm, 2048), 2048);
  EXPECT_EQ(keys_seen(kGlm, 2049), 2049);
  EXPECT_EQ(keys_seen(kGlm, 2063), 2063);
  EXPECT_EQ(keys_seen(kGlm, 2064), 2048);
  EXPECT_EQ(keys_seen(kGlm, 3000), 2056);
  constexpr Selection kQsa{.topk = 513, .unit = 4, .tail = SelectionTail::kOpen};
  EXPECT_EQ(keys_seen(kQsa, 2051), 2051);
  EXPECT_EQ(keys_seen(kQsa, 9001), 2049);
  constexpr Selection kStep5{
      .topk = 513, .unit = 8, .tail = SelectionTail::kOwn, .padding = SelectionPadding::kFront};
  EXPECT_EQ(keys_seen(kStep5, 5001), 512 * 8 + 5000 % 8 + 1);
  EXPECT_EQ(columns_of(choose_keys(layer_with(kStep5), 5000, 1, 7), 0).back(), 625);
}

TEST(ChosenKeys, of_a_short_list_with_a_tail_are_in_their_order) {
  const AttentionLayer layer = layer_with({.topk = 3, .unit = 2, .tail = SelectionTail::kOpen});
  const ChosenKeys chosen = choose_keys(layer, 0, 4, 7);
  EXPECT_THAT(columns_of(chosen, 0), ElementsAre(0, -1, -1));
  EXPECT_THAT(columns_of(chosen, 2), ElementsAre(0, 1, -1));
  EXPECT_THAT(columns_of(chosen, 3), ElementsAre(0, 1, -1)) << "two pools, none of them open";
}

TEST(ChosenKeys, of_recent_are_the_first_four_keys_and_the_latest) {
  Selection selection{.topk = 8, .pattern = SelectionPattern::kRecent};
  List list = list_of(choose_keys(layer_with(selection), 99, 1, 3), 0);
  std::ranges::sort(list);
  EXPECT_THAT(list, ElementsAre(0, 1, 2, 3, 96, 97, 98, 99));
  selection.unit = 3;
  list = list_of(choose_keys(layer_with(selection), 99, 1, 3), 0);
  std::ranges::sort(list);
  EXPECT_THAT(list, ElementsAre(0, 1, 28, 29, 30, 31, 32, 33));
}

/// Pages of 16 keys that the list's units lie in, the query's own unit left out.
std::set<std::int32_t> pages_of(const List& list, std::int32_t own) {
  std::set<std::int32_t> pages;
  for (const std::int32_t unit : list) {
    if (unit != own) pages.insert(unit / 16);
  }
  return pages;
}

TEST(ChosenKeys, of_one_page_lie_in_as_few_pages_as_hold_them) {
  const auto lists = [](std::int64_t topk) {
    const Selection selection{.topk = topk, .pattern = kOnePage, .page_size = 16};
    return choose_keys(layer_with(selection), 1000, 200, 3);
  };
  std::set<std::int32_t> first_pages;
  for (std::int32_t token = 0; token < 200; ++token) {
    const auto pages = pages_of(list_of(lists(17), token), 1000 + token);
    ASSERT_EQ(pages.size(), 1U);
    first_pages.insert(*pages.begin());
    ASSERT_LE(pages_of(list_of(lists(40), token), 1000 + token).size(), 3U);
  }
  EXPECT_GT(first_pages.size(), 40U) << "each query's are drawn for itself";
}

TEST(ChosenKeys, of_every_page_are_one_of_each_that_there_is_room_for) {
  Selection selection{.topk = 100, .pattern = kEveryPage, .page_size = 16};
  const std::int32_t own = 1599;  // of 100 pages
  EXPECT_EQ(pages_of(list_of(choose_keys(layer_with(selection), own, 1, 3), 0), own).size(), 99U);
  selection.topk = 11;
  const auto pages = pages_of(list_of(choose_keys(layer_with(selection), own, 1, 3), 0), own);
  EXPECT_THAT(pages, ElementsAre(0, 10, 20, 30, 40, 50, 60, 70, 80, 90));
}

TEST(ChosenKeys, of_holes_have_entries_that_are_none_among_the_others) {
  const ChosenKeys chosen = choose_keys(layer_with({.topk = 40, .pattern = kHoles}), 0, 100, 3);
  int first_is_none = 0;
  for (std::int64_t token = 0; token < 100; ++token) {
    const List list = list_of(chosen, token);
    ASSERT_EQ(std::ranges::count(list, -1), std::max<std::int64_t>(10, 39 - token));
    if (list.front() == -1) ++first_is_none;
  }
  EXPECT_GT(first_is_none, 10);
  EXPECT_LT(first_is_none, 80);
}

TEST(ChosenKeys, of_duplicates_name_some_unit_several_times_in_each_list) {
  const ChosenKeys chosen = choose_keys(layer_with({.topk = 8, .pattern = kDuplicates}), 0, 100, 3);
  EXPECT_THAT(columns_of(chosen, 0), Each(0));
  for (std::int64_t token = 0; token < 100; ++token) {
    const List list = list_of(chosen, token);
    const std::set<std::int32_t> named(list.begin(), list.end());
    ASSERT_EQ(std::ssize(named), std::min<std::int64_t>(token + 1, 4));
  }
}

// 101 entries: the own unit, and of 100 the share.
TEST(ChosenKeys, of_neighbours_have_the_stated_part_in_common) {
  for (const double overlap : {0.0, 0.5, 0.9, 1.0}) {
    const AttentionLayer layer =
        layer_with({.topk = 101, .pattern = SelectionPattern::kShared, .overlap = overlap});
    const ChosenKeys chosen = choose_keys(layer, 64000, 128, 3);
    for (const std::int64_t token : {0, 30, 62}) {
      const auto both =
          static_cast<double>(in_common(list_of(chosen, token), list_of(chosen, token + 1)));
      EXPECT_NEAR(both, 100 * overlap, 4) << overlap;
    }
    EXPECT_LT(in_common(list_of(chosen, 63), list_of(chosen, 64)), 5U) << "other neighbours";
  }
}

TEST(ChosenKeys, are_padded_with_empty_lists) {
  ChosenKeys chosen = choose_keys(layer_with({.topk = 3}), 9, 1, 3);
  chosen.pad(3);
  EXPECT_EQ(chosen.indices.size(), 9U);
  EXPECT_TRUE(chosen.list(2, 0).empty());
  EXPECT_THAT(columns_of(chosen, 2), Each(-1));
}

}  // namespace
}  // namespace attnbench
