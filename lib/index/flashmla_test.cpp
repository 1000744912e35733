// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/flashmla.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnbench {
namespace {

using testing::ElementsAre;
using Lens = std::vector<std::int32_t>;

TEST(FlashMlaSmParts, give_each_block_of_64_query_rows_a_multiprocessor) {
  EXPECT_EQ(flashmla_sm_parts(132, 1, 128, 1), 66);
  EXPECT_EQ(flashmla_sm_parts(132, 1, 16, 1), 132);
  EXPECT_EQ(flashmla_sm_parts(132, 2, 128, 1), 33);
  EXPECT_EQ(flashmla_sm_parts(2, 4, 128, 1), 1);
}

TEST(ScheduleFlashMla, cuts_a_long_request_where_a_part_is_full) {
  const FlashMlaSchedule schedule = schedule_flashmla(Lens{1000, 5000}, 4);
  EXPECT_THAT(schedule.num_splits, ElementsAre(0, 1, 5));
  ASSERT_EQ(schedule.parts.size(), 4u);
  EXPECT_THAT(schedule.parts[0].words(), ElementsAre(0, 1, 0, 6, 0, 0, 1, 0));
  EXPECT_THAT(schedule.parts[1].words(), ElementsAre(1, 1, 6, 33, 1, 1, 1, 0));
  EXPECT_THAT(schedule.parts[2].words(), ElementsAre(1, 1, 33, 60, 2, 1, 1, 0));
  EXPECT_THAT(schedule.parts[3].words(), ElementsAre(1, 1, 60, 79, 3, 1, 1, 0));
}

TEST(ScheduleFlashMla, counts_a_request_without_keys_as_one_block) {
  const FlashMlaSchedule schedule = schedule_flashmla(Lens{64, 0, 300}, 2);
  EXPECT_THAT(schedule.num_splits, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(schedule.parts[0].words(), ElementsAre(0, 1, 0, 1, 0, 0, 0, 0));
  EXPECT_THAT(schedule.parts[1].words(), ElementsAre(2, 2, 0, 5, 0, 0, 0, 0));
}

TEST(ScheduleFlashMla, opens_no_split_where_a_part_has_no_more_left_than_the_overhead) {
  const FlashMlaSchedule schedule = schedule_flashmla(Lens{64, 64}, 2);  // of 11 blocks 5 are left
  EXPECT_THAT(schedule.num_splits, ElementsAre(0, 1, 2));
  EXPECT_THAT(schedule.parts[1].words(), ElementsAre(1, 1, 0, 1, 0, 0, 0, 0));
}

TEST(ScheduleFlashMla, opens_a_split_of_one_block_where_one_fits_beside_the_overhead) {
  const FlashMlaSchedule schedule = schedule_flashmla(Lens{64, 192}, 2);  // of 12 blocks 6 are left
  EXPECT_THAT(schedule.num_splits, ElementsAre(0, 1, 3));
  EXPECT_THAT(schedule.parts[0].words(), ElementsAre(0, 1, 0, 1, 0, 0, 1, 0));
  EXPECT_THAT(schedule.parts[1].words(), ElementsAre(1, 1, 1, 3, 1, 1, 1, 0));
}

TEST(ScheduleFlashMla, of_many_parts_cuts_every_long_request) {
  EXPECT_THAT(schedule_flashmla(Lens{1000, 5000, 300, 8192}, 66).num_splits,
              ElementsAre(0, 4, 24, 26, 58));
}

TEST(ScheduleFlashMla, gives_the_parts_that_are_left_over_nothing) {
  const FlashMlaSchedule schedule = schedule_flashmla(Lens{64}, 3);
  EXPECT_THAT(schedule.parts[1].words(), ElementsAre(1, 0, 0, 1, 0, 0, 0, 0));
  EXPECT_THAT(schedule_flashmla(Lens{}, 1).parts[0].words(), ElementsAre(0, -1, 0, 0, 0, 0, 0, 0));
}

}  // namespace
}  // namespace attnbench
