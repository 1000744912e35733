// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/block_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/error.h"
#include "lib/index/testing/test_batch.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using Rows = std::vector<std::int32_t>;
using Positions = std::vector<std::int64_t>;

TEST(BuildBlockTable, fills_with_minus_one_behind_each_request) {
  const TestBatch test(ForwardMode::kDecode,
                       {slots_from(7, 64, 130), slots_from(3, 64, 64), slots_from(5, 64, 1)},
                       {1, 1, 1}, 192);
  const PageTable table = build_block_table(test.batch, 64);
  EXPECT_EQ(table.width, 3);
  EXPECT_THAT(table.page_table, ElementsAre(7, 8, 9, 3, -1, -1, 5, -1, -1));
}

TEST(TrtllmPaddedBlocks, rounds_up_to_what_kernel_and_builder_both_divide) {
  EXPECT_EQ(trtllm_padded_blocks(130, 32), 128);
  EXPECT_EQ(trtllm_padded_blocks(130, 64), 64);
  EXPECT_EQ(trtllm_padded_blocks(5000, 32), 256);
  EXPECT_EQ(trtllm_padded_blocks(5000, 64), 128);
  EXPECT_THROW(static_cast<void>(trtllm_padded_blocks(130, 256)), InternalError);
}

TEST(BuildTrtllmBlockTable, is_the_block_table_in_padded_width) {
  const TestBatch test(ForwardMode::kDecode, {slots_from(7, 32, 130)}, {1}, 192);
  const PageTable table = build_trtllm_block_table(test.batch, 32);
  EXPECT_EQ(table.width, 128);
  EXPECT_THAT(table.row(0).first(6), ElementsAre(7, 8, 9, 10, 11, -1));
  EXPECT_EQ(table.row(0).back(), -1);
}

TEST(SlotMapping, follows_the_block_table) {
  EXPECT_THAT(slot_mapping(Rows{7, 3, 9}, Positions{14, 15, 16, 17, 18}, 16),
              ElementsAre(126, 127, 48, 49, 50));
}

TEST(SlotMapping, skips_padding_and_refuses_what_is_not_allocated) {
  EXPECT_THAT(slot_mapping(Rows{7}, Positions{3, -1}, 16), ElementsAre(115, -1));
  EXPECT_THROW(static_cast<void>(slot_mapping(Rows{7}, Positions{16}, 16)), InternalError);
  EXPECT_THROW(static_cast<void>(slot_mapping(Rows{7, -1}, Positions{16}, 16)), InternalError);
}

}  // namespace
}  // namespace attnbench
