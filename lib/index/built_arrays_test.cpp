// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/built_arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/index/testing/test_batch.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using Elements = std::vector<std::int32_t>;

/// Requests of 7, 0 and 10 tokens on pages of 4.
class BuiltArrays : public testing::Test {
 protected:
  BuiltArrays()
      : test_(ForwardMode::kDecode, {slots_from(5, 4, 7), {}, slots_from(8, 4, 10)}, {1, 1, 1}) {
    problem_.mode = ForwardMode::kDecode;
    problem_.cache.page_size = 4;
  }
  std::vector<BuiltArray> arrays_of(IndexForm form) {
    return built_arrays(form, IndexStep{test_.batch, problem_, 11});
  }
  /// All elements, one array behind the other.
  static Elements elements_of(const std::vector<BuiltArray>& arrays) {
    Elements all;
    for (const BuiltArray& each : arrays) {
      all.insert(all.end(), each.values.begin(), each.values.end());
    }
    return all;
  }

  TestBatch test_;
  Problem problem_;
};

TEST_F(BuiltArrays, of_csr_are_the_sums_and_the_pages) {
  const auto arrays = arrays_of(IndexForm::kCsr);
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_STREQ(arrays[0].name, "kv_indptr");
  EXPECT_THAT(arrays[0].values, ElementsAre(0, 2, 2, 5));
  EXPECT_THAT(arrays[0].requests, ElementsAre(0, 0, 1, 2));
  EXPECT_EQ(arrays[0].kept, 1);
  EXPECT_STREQ(arrays[1].name, "kv_indices");
  EXPECT_THAT(arrays[1].values, ElementsAre(5, 6, 8, 9, 10));
  EXPECT_THAT(arrays[1].requests, ElementsAre(0, 0, 2, 2, 2));
  EXPECT_EQ(count_built(arrays), 9);
}

TEST_F(BuiltArrays, of_a_page_table_are_the_entries_of_pages) {
  const auto arrays = arrays_of(IndexForm::kPageTable);
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_THAT(arrays[0].shape, ElementsAre(3, 3));
  EXPECT_THAT(arrays[0].values, ElementsAre(5, 6, -1, -1, -1, -1, 8, 9, 10));
  EXPECT_THAT(arrays[0].requests, ElementsAre(0, 0, 0, 1, 1, 1, 2, 2, 2));
  EXPECT_EQ(count_built(arrays), 5);
}

TEST_F(BuiltArrays, have_no_fault_where_they_are_right) {
  for (const IndexForm form : kIndexForms) {
    const auto arrays = arrays_of(form);
    EXPECT_EQ(fault_of_built(arrays, elements_of(arrays)), "") << to_string(form);
  }
}

TEST_F(BuiltArrays, name_the_first_wrong_element_with_its_request) {
  const auto arrays = arrays_of(IndexForm::kCsr);
  Elements got = elements_of(arrays);
  got[4 + 3] = 7;
  got[4 + 4] = 7;
  EXPECT_EQ(fault_of_built(arrays, got), "kv_indices[3] of request 2 is 7; it should be 9");
  got[3] = 6;
  EXPECT_EQ(fault_of_built(arrays, got), "kv_indptr[3] of request 2 is 6; it should be 5");
}

TEST_F(BuiltArrays, name_an_element_that_was_not_written) {
  const auto arrays = arrays_of(IndexForm::kCsr);
  Elements got = elements_of(arrays);
  got.back() = kUnbuilt;
  EXPECT_EQ(fault_of_built(arrays, got),
            "kv_indices[4] of request 2 was not written; it should be 10");
}

TEST_F(BuiltArrays, may_hold_anything_behind_a_requests_pages_in_a_table) {
  const auto arrays = arrays_of(IndexForm::kPageTable);
  Elements got = elements_of(arrays);
  got[2] = 77;
  got[4] = 0;
  EXPECT_EQ(fault_of_built(arrays, got), "");
  got[7] = 77;
  EXPECT_EQ(fault_of_built(arrays, got), "page_table[2, 1] of request 2 is 77; it should be 9");
}

}  // namespace
}  // namespace attnbench
