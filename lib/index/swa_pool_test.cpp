// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/swa_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/index/page_table.h"
#include "lib/index/testing/test_batch.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using Slots = std::vector<std::int32_t>;

TEST(MapWindowPages, maps_whole_pages_that_hold_a_key_of_the_window) {
  // Query 9 sees keys 7, 8 and 9: the pages of tokens 4-7 and 8-11.
  const TestBatch test(ForwardMode::kDecode, {slots_from(5, 4, 10)}, {1});
  const FullToSwaMapping mapping = map_window_pages(test.batch, 2, 4, 11);
  EXPECT_EQ(mapping.table().size(), 10u * 4 + 4 + 1);
  EXPECT_EQ(mapping.translate(23), 0);
  EXPECT_EQ(mapping.translate(24), 4);
  EXPECT_EQ(mapping.translate(27), 7);
  EXPECT_EQ(mapping.translate(29), 9);
  EXPECT_THAT(build_swa_page_table(test.batch, 4, mapping).row(0), ElementsAre(0, 1, 2));
}

TEST(MapWindowPages, maps_a_shared_page_once) {
  Slots second = slots_from(3, 4, 4);
  const Slots own = slots_from(6, 4, 2);
  second.insert(second.end(), own.begin(), own.end());
  const TestBatch test(ForwardMode::kDecode, {slots_from(3, 4, 5), second}, {1, 1});
  const PageTable table =
      build_swa_page_table(test.batch, 4, map_window_pages(test.batch, 7, 4, 11));
  EXPECT_THAT(table.row(0), ElementsAre(1, 2));
  EXPECT_THAT(table.row(1), ElementsAre(1, 3));
}

}  // namespace
}  // namespace attnbench
