// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/page_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "lib/index/csr.h"
#include "lib/index/testing/test_batch.h"
#include "lib/index/testing/validate.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;
using Slots = std::vector<std::int32_t>;

TEST(BuildPageTable, of_pages_of_one_token_lists_slots_and_pads) {
  const TestBatch test(ForwardMode::kExtend,
                       {{0, 1, 2, 3, 4, 7, 8}, {5, 6}, {0, 1, 2, 3, 4, 9, 10, 11, 12, 13}},
                       {2, 2, 5});
  const PageTable table = build_page_table(test.batch, 1);
  EXPECT_EQ(table.width, 10);
  EXPECT_THAT(table.row(0), ElementsAreArray({0, 1, 2, 3, 4, 7, 8, -1, -1, -1}));
  EXPECT_THAT(table.row(1), ElementsAreArray({5, 6, -1, -1, -1, -1, -1, -1, -1, -1}));
  EXPECT_THAT(table.row(2), ElementsAreArray({0, 1, 2, 3, 4, 9, 10, 11, 12, 13}));
  EXPECT_THAT(table.cache_seqlens, ElementsAreArray({7, 2, 10}));
}

TEST(BuildPageTable, shares_whole_pages_between_requests) {
  Slots third = slots_from(0, 16, 16);
  const Slots own = slots_from(3, 16, 10);
  third.insert(third.end(), own.begin(), own.end());
  const TestBatch test(ForwardMode::kDecode, {slots_from(0, 16, 23), slots_from(2, 16, 2), third},
                       {1, 1, 1});
  const PageTable table = build_page_table(test.batch, 16);
  EXPECT_THAT(table.row(0), ElementsAreArray({0, 1}));
  EXPECT_THAT(table.row(1), ElementsAreArray({2, -1}));
  EXPECT_THAT(table.row(2), ElementsAreArray({0, 3}));
}

TEST(BuildPageTable, widens_and_pads_as_asked) {
  const TestBatch test(ForwardMode::kDecode, {slots_from(1, 4, 5)}, {1});
  EXPECT_THAT(build_page_table(test.batch, 4, 0, 4).row(0), ElementsAreArray({1, 2, 0, 0}));
}

TEST(BuildPageTable, of_requests_without_keys_has_a_column_that_nobody_reads) {
  const TestBatch test(ForwardMode::kDecode, {{}, {}}, {1, 1});
  const PageTable table = build_page_table(test.batch, 4);
  EXPECT_EQ(table.width, 1);
  EXPECT_THAT(table.page_table, ElementsAreArray({-1, -1}));
  EXPECT_THAT(table.cache_seqlens, ElementsAreArray({0, 0}));
}

TEST(BuildPageTable, of_flashmla_s_pages_is_as_wide_as_the_longest_request_and_ends_in_minus_one) {
  const TestBatch test(ForwardMode::kDecode,
                       {slots_from(2, 64, 130), slots_from(5, 64, 64), slots_from(9, 64, 1)},
                       {1, 1, 1}, 192);
  const PageTable table = build_page_table(test.batch, 64);
  EXPECT_EQ(table.width, 3);
  EXPECT_THAT(table.row(0), ElementsAreArray({2, 3, 4}));
  EXPECT_THAT(table.row(1), ElementsAreArray({5, -1, -1}));
  EXPECT_THAT(table.row(2), ElementsAreArray({9, -1, -1}));
}

TEST(BuildPageTable, agrees_with_csr_for_shuffled_pages) {
  constexpr std::int32_t kPageSize = 8;
  std::mt19937 random(17);
  std::vector<std::int32_t> pages(100);
  std::iota(pages.begin(), pages.end(), 1);
  std::ranges::shuffle(pages, random);
  std::vector<Slots> requests(9);
  std::size_t next = 0;
  for (Slots& slots : requests) {
    const std::size_t len = random() % 60 + 1;
    for (std::size_t t = 0; t < len; ++t) {
      if (t % kPageSize == 0) ++next;
      slots.push_back(pages[next] * kPageSize + static_cast<std::int32_t>(t % kPageSize));
    }
  }
  const TestBatch test(ForwardMode::kDecode, requests, std::vector<std::int32_t>(9, 1));
  const PageTable table = build_page_table(test.batch, kPageSize);
  const CsrIndices csr = build_csr(test.batch, kPageSize);
  validate_page_table(table, 101);
  validate_csr(csr, 101, kPageSize);
  Slots flat;
  for (std::size_t r = 0; r < requests.size(); ++r) {
    const auto row = table.row(static_cast<std::int64_t>(r));
    const auto used = row.first(static_cast<std::size_t>(csr.kv_indptr[r + 1] - csr.kv_indptr[r]));
    flat.insert(flat.end(), used.begin(), used.end());
  }
  EXPECT_EQ(flat, csr.kv_indices);
}

TEST(BuildSwaPageTable, translates_the_first_slot_of_each_page) {
  const TestBatch test(ForwardMode::kDecode, {slots_from(5, 4, 10)}, {1});
  FullToSwaMapping mapping(40, 4);
  for (std::int32_t t = 4; t < 10; ++t) mapping.map(20 + t, 8 + t);
  // The first page has left the window: its entry is the dummy page.
  EXPECT_THAT(build_swa_page_table(test.batch, 4, mapping).row(0), ElementsAreArray({0, 3, 4}));
}

}  // namespace
}  // namespace attnbench
