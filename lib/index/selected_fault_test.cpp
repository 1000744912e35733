// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/selected_fault.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "lib/index/built_arrays.h"

namespace attnbench {
namespace {

const std::vector<float> kScores{2, -1, 3, 2, 2, 0.5f};

std::string fault(const std::vector<std::int32_t>& list, std::int32_t length,
                  const std::vector<float>& scores = kScores) {
  return fault_of_selected("row 3", "key", scores, {list, length});
}

TEST(SelectedFault, is_none_of_any_of_the_highest_scores_in_any_order) {
  EXPECT_EQ(fault({2, 0, 3}, 3), "");
  EXPECT_EQ(fault({4, 2, 0}, 3), "");
  EXPECT_EQ(fault({0, 2, 3, 4}, 4), "");
}

TEST(SelectedFault, is_none_of_all_keys_and_minus_ones_behind_them) {
  EXPECT_EQ(fault({5, 1, 2, 3, 4, 0, -1, -1}, 6), "");
  EXPECT_EQ(fault({-1, -1}, 0, {}), "");
}

TEST(SelectedFault, is_a_lower_score_in_place_of_a_higher_one) {
  EXPECT_EQ(fault({2, 0, 5}, 3), "row 3 leaves out key 3 (score 2) and takes key 5 (score 0.5)");
}

TEST(SelectedFault, is_a_score_that_is_lower_by_one_bit) {
  const float above = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(fault({0}, 1, {1, above, 0}),
            "row 3 leaves out key 1 (score 1.0000001) and takes key 0 (score 1)");
  EXPECT_EQ(fault({1}, 1, {-0.0f, 0.0f, -1}), "") << "zeros are equal";
  EXPECT_EQ(fault({0}, 1, {-0.0f, 0.0f, -1}), "");
}

TEST(SelectedFault, is_the_newest_key_left_out) {
  EXPECT_EQ(fault({0, 1}, 2, {1, 2, 3}),
            "row 3 ignores the newest key 2 (score 3) and takes key 0 (score 1)");
}

TEST(SelectedFault, is_a_key_twice_too_few_keys_or_one_that_is_not_there) {
  EXPECT_EQ(fault({2, 2, 0}, 3), "row 3 takes key 2 twice");
  EXPECT_EQ(fault({2, 0, -1}, 2), "row 3 takes 2 keys; it should take 3");
  EXPECT_EQ(fault({2, 0, 6}, 3), "row 3 takes key 6; it has 6");
  EXPECT_EQ(fault({2, -7, 0}, 3), "row 3 takes key -7; it has 6");
}

TEST(SelectedFault, is_none_of_a_list_that_ends_in_the_last_column) {
  const auto fault_in_front = [](const std::vector<std::int32_t>& list, std::int32_t length) {
    return fault_of_selected("row 3", "key", kScores,
                             {.indices = list, .length = length, .is_padded_in_front = true});
  };
  EXPECT_EQ(fault_in_front({-1, -1, 5, 1, 2, 3, 4, 0}, 8), "");
  EXPECT_EQ(fault_in_front({4, 2, 0}, 3), "");
  EXPECT_EQ(fault_in_front({-1, 5, 1, 2, 3, 4, 0}, 6), "topk_length of row 3 is 6; it should be 7");
  EXPECT_EQ(fault_in_front({5, 1, 2, 3, 4, 0, -1}, 7), "row 3 takes 5 keys; it should take 6");
  EXPECT_EQ(fault_in_front({-1, 3, 5, 1, 2, 3, 4, 0}, 8),
            "row 3 has 3 in column 1, before its 6 keys; it should be -1");
  EXPECT_EQ(fault_in_front({2, 0, 5}, 3),
            "row 3 leaves out key 3 (score 2) and takes key 5 (score 0.5)");
}

TEST(SelectedFault, is_anything_but_minus_one_behind_the_keys) {
  EXPECT_EQ(fault({0, 1, 2, 3, 4, 5, 5}, 6),
            "row 3 has 5 in column 6, behind its 6 keys; it should be -1");
}

TEST(SelectedFault, is_a_column_that_was_not_written) {
  EXPECT_EQ(fault({0, 1, 2, 3, 4, 5, kUnselected}, 6), "column 6 of row 3 was not written");
}

TEST(SelectedFault, is_another_length_but_none_where_it_is_left_unwritten) {
  EXPECT_EQ(fault({2, 0, 3}, 2), "topk_length of row 3 is 2; it should be 3");
  EXPECT_EQ(fault({2, 0, 3}, kUnbuilt), "");
}

}  // namespace
}  // namespace attnbench
