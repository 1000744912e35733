// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cpu/resident_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

namespace attnbench {
namespace {

TEST(ResidentMemory, has_each_page_before_anybody_reads_it) {
  constexpr std::size_t kPartBytes = std::size_t{1} << 20;  // malloc maps such anew
  const ResidentMemory memory(3, kPartBytes);
  ASSERT_EQ(memory.words().size_bytes(), 3 * kPartBytes);
  std::vector<unsigned char> pages(3 * kPartBytes / ResidentMemory::kPageBytes);
  ASSERT_EQ(mincore(memory.words().data(), 3 * kPartBytes, pages.data()), 0);
  EXPECT_TRUE(std::ranges::all_of(pages, [](unsigned char each) { return (each & 1u) != 0; }));
}

TEST(ResidentMemory, can_be_empty) {
  EXPECT_TRUE(ResidentMemory().words().empty());
  EXPECT_TRUE(ResidentMemory(2, 0).words().empty());
}

}  // namespace
}  // namespace attnbench
