// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "lib/base/error.h"
#include "lib/batch/allocator.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;
using testing::Optional;
using Lens = std::vector<std::int32_t>;
using Slots = std::vector<std::int64_t>;

TEST(PagedAllocator, fills_the_last_prefix_page_before_it_takes_new_ones) {
  PagedAllocator allocator({3, 4, 5, 6}, 4);
  EXPECT_THAT(allocator.alloc_extend(Lens{5, 0}, Lens{10, 3}, Slots{8, -1}),
              Optional(ElementsAreArray({9, 10, 11, 12, 13, 16, 17, 18})));
  EXPECT_EQ(allocator.available_pages(), 2);
  EXPECT_THAT(allocator.alloc_extend(Lens{0}, Lens{5}, Slots{-1}),
              Optional(ElementsAreArray({20, 21, 22, 23, 24})));
}

TEST(PagedAllocator, takes_no_page_while_the_last_one_has_room) {
  PagedAllocator allocator({3, 4, 5, 6}, 4);
  EXPECT_THAT(allocator.alloc_extend(Lens{5, 0}, Lens{6, 3}, Slots{8, -1}),
              Optional(ElementsAreArray({9, 12, 13, 14})));
}

TEST(PagedAllocator, starts_a_new_page_after_a_full_prefix_page) {
  PagedAllocator allocator({3, 4, 5, 6, 7, 8}, 4);
  EXPECT_THAT(allocator.alloc_extend(Lens{4, 0}, Lens{13, 8}, Slots{7, -1}),
              Optional(ElementsAreArray(
                  {12, 13, 14, 15, 16, 17, 18, 19, 20, 24, 25, 26, 27, 28, 29, 30, 31})));
  EXPECT_EQ(allocator.available_pages(), 1);
  EXPECT_THAT(allocator.alloc_decode(Lens{1}, Slots{-1}), Optional(ElementsAreArray({32})));
}

TEST(PagedAllocator, takes_a_new_page_only_at_a_page_boundary) {
  PagedAllocator allocator({9, 7}, 4);
  EXPECT_THAT(allocator.alloc_decode(Lens{12, 5}, Slots{14, 19}),
              Optional(ElementsAreArray({15, 36})));
  EXPECT_EQ(allocator.available_pages(), 1);
}

// vLLM's slot of a position: row[position / 16] * 16 + position % 16.
TEST(PagedAllocator, gives_positions_the_slots_of_vllm_s_block_table) {
  PagedAllocator allocator({7, 3, 9}, 16);
  EXPECT_TRUE(allocator.alloc_extend(Lens{0}, Lens{14}, Slots{-1}));
  EXPECT_THAT(allocator.alloc_extend(Lens{14}, Lens{19}, Slots{7 * 16 + 13}),
              Optional(ElementsAreArray({126, 127, 48, 49, 50})));
}

TEST(PagedAllocator, changes_nothing_when_the_pages_do_not_suffice) {
  PagedAllocator allocator({1, 2}, 4);
  EXPECT_EQ(allocator.alloc_extend(Lens{0, 0}, Lens{4, 5}, Slots{-1, -1}), std::nullopt);
  EXPECT_EQ(allocator.available_pages(), 2);
  EXPECT_THAT(allocator.alloc_extend(Lens{0}, Lens{1}, Slots{-1}), Optional(ElementsAreArray({4})));
}

TEST(PagedAllocator, needs_no_pages_beyond_those_that_it_takes) {
  PagedAllocator one({3}, 4);  // the page of tokens 8 and 9: that of 4 to 7 is there
  EXPECT_THAT(one.alloc_extend(Lens{5}, Lens{10}, Slots{8}),
              Optional(ElementsAreArray({9, 10, 11, 12, 13})));
  PagedAllocator none({}, 4);
  EXPECT_THAT(none.alloc_extend(Lens{5}, Lens{8}, Slots{8}),
              Optional(ElementsAreArray({9, 10, 11})));
  EXPECT_THAT(none.alloc_decode(Lens{8}, Slots{10}), Optional(ElementsAreArray({11})));
  EXPECT_EQ(none.alloc_decode(Lens{9}, Slots{11}), std::nullopt);
}

TEST(PagedAllocator, refuses_contradictory_requests) {
  PagedAllocator allocator({1, 2, 3}, 4);
  EXPECT_THROW(static_cast<void>(allocator.alloc_extend(Lens{5}, Lens{6}, Slots{9})),
               InternalError);
  EXPECT_THROW(static_cast<void>(allocator.alloc_extend(Lens{5}, Lens{4}, Slots{8})),
               InternalError);
  EXPECT_THROW(static_cast<void>(allocator.alloc_decode(Lens{0}, Slots{-1})), InternalError);
  EXPECT_THROW(PagedAllocator({2, 0}, 4), InternalError);
  EXPECT_THROW(PagedAllocator({2, 2}, 4), InternalError);
}

TEST(PagedAllocator, hands_out_pages_of_one_token_as_slots_in_their_order) {
  PagedAllocator pages({1, 2, 3, 4, 5}, 1);
  EXPECT_THAT(pages.alloc_extend(Lens{0, 0}, Lens{2, 1}, Slots{-1, -1}),
              Optional(ElementsAreArray({1, 2, 3})));
  EXPECT_THAT(pages.alloc_decode(Lens{3, 2}, Slots{2, 3}), Optional(ElementsAreArray({4, 5})));
}

TEST(PagedAllocator, gives_every_slot_to_one_request_and_keeps_pages_whole) {
  constexpr std::int64_t kPageSize = 16;
  std::vector<std::int32_t> free_pages;
  for (std::int32_t page = 1; page <= 200; ++page) free_pages.push_back(page);
  std::mt19937 random(11);
  std::ranges::shuffle(free_pages, random);
  PagedAllocator allocator(free_pages, kPageSize);

  std::vector<Slots> owned(10);
  std::set<std::int64_t> all;
  for (int step = 0; step < 60; ++step) {
    const std::size_t r = random() % owned.size();
    const auto prefix = static_cast<std::int32_t>(owned[r].size());
    const std::int32_t added = static_cast<std::int32_t>(random() % 40) + 1;
    const std::int64_t last = owned[r].empty() ? -1 : owned[r].back();
    const auto slots = allocator.alloc_extend(Lens{prefix}, Lens{prefix + added}, Slots{last});
    ASSERT_TRUE(slots);
    owned[r].insert(owned[r].end(), slots->begin(), slots->end());
    for (const std::int64_t slot : *slots) {
      EXPECT_TRUE(all.insert(slot).second) << "slot " << slot << " is handed out twice";
      EXPECT_GE(slot, kPageSize);
    }
  }
  for (const Slots& slots : owned) {
    for (std::size_t t = 0; t < slots.size(); ++t) {
      const std::size_t offset = t % kPageSize;
      EXPECT_EQ(slots[t], slots[t - offset] + static_cast<std::int64_t>(offset));
      EXPECT_EQ(slots[t] % kPageSize, static_cast<std::int64_t>(offset));
    }
  }
}

TEST(FullToSwaMapping, translates_slots_and_keeps_minus_one) {
  FullToSwaMapping mapping(6, 1);
  mapping.map(1, 3);
  mapping.map(2, 1);
  mapping.map(5, 2);
  EXPECT_EQ(mapping.translate(1), 3);
  EXPECT_EQ(mapping.translate(2), 1);
  EXPECT_EQ(mapping.translate(5), 2);
  EXPECT_EQ(mapping.translate(4), 0);
  EXPECT_EQ(mapping.translate(-1), -1);
  EXPECT_EQ(mapping.table().size(), 8u);
  EXPECT_EQ(mapping.table().back(), -1);
}

TEST(FullToSwaMapping, refuses_slots_outside_the_pool) {
  FullToSwaMapping mapping(6, 1);
  EXPECT_THROW(mapping.map(7, 1), InternalError);
  EXPECT_THROW(mapping.map(0, 1), InternalError);
  EXPECT_THROW(mapping.map(1, -1), InternalError);
  EXPECT_THROW(static_cast<void>(mapping.translate(7)), InternalError);
  EXPECT_THROW(static_cast<void>(mapping.translate(-2)), InternalError);
}

}  // namespace

}  // namespace attnbench
