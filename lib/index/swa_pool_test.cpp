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

AttentionLayer with_reach(std::int64_t window, std::int64_t chunk = 0) {
  AttentionLayer layer;
  layer.sliding_window_size = window;
  layer.attention_chunk = chunk;
  return layer;
}

TEST(MapWindowPages, maps_whole_pages_that_hold_a_key_of_the_window) {
  // Query 9 sees keys 7, 8 and 9: the pages of tokens 4-7 and 8-11.
  const TestBatch test(ForwardMode::kDecode, {slots_from(5, 4, 10)}, {1});
  const FullToSwaMapping mapping = map_window_pages(test.batch, with_reach(2), 4, 11);
  EXPECT_EQ(mapping.table().size(), 10u * 4 + 4 + 1);
  EXPECT_EQ(mapping.translate(23), 0);
  EXPECT_EQ(mapping.translate(24), 4);
  EXPECT_EQ(mapping.translate(27), 7);
  EXPECT_EQ(mapping.translate(29), 9);
  EXPECT_THAT(build_swa_page_table(test.batch, 4, mapping).row(0), ElementsAre(0, 1, 2));
}

TEST(MapWindowPages, maps_the_pages_of_the_chunks_that_hold_queries) {
  // Queries 7 to 9, of chunks 6 to 8 and 9 to 11 where a chunk has 3 keys: tokens 4 to 9.
  const TestBatch test(ForwardMode::kExtend, {slots_from(5, 4, 10)}, {3});
  const auto pages = [&](const AttentionLayer& layer) {
    return build_swa_page_table(test.batch, 4, map_window_pages(test.batch, layer, 4, 11));
  };
  EXPECT_THAT(pages(with_reach(-1, 3)).row(0), ElementsAre(0, 1, 2));
  EXPECT_THAT(pages(with_reach(-1, 8)).row(0), ElementsAre(1, 2, 3));
  EXPECT_THAT(pages(with_reach(1, 8)).row(0), ElementsAre(0, 1, 2)) << "both bounds hold";
}

TEST(MapWindowPages, maps_a_shared_page_once) {
  Slots second = slots_from(3, 4, 4);
  const Slots own = slots_from(6, 4, 2);
  second.insert(second.end(), own.begin(), own.end());
  const TestBatch test(ForwardMode::kDecode, {slots_from(3, 4, 5), second}, {1, 1});
  const PageTable table =
      build_swa_page_table(test.batch, 4, map_window_pages(test.batch, with_reach(7), 4, 11));
  EXPECT_THAT(table.row(0), ElementsAre(1, 2));
  EXPECT_THAT(table.row(1), ElementsAre(1, 3));
}

}  // namespace
}  // namespace attnbench
