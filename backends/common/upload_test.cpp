// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/upload.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace attnbench {
namespace {

TEST(Upload, lies_where_a_device_room_says) {
  const std::vector<std::int32_t> first(65, 3), none;
  const std::vector<double> last = {1.5, 2.5};
  DeviceRoom room;
  const auto first_at = room.add<std::int32_t>(65);
  const auto none_at = room.add<std::int32_t>(0);
  const auto last_at = room.add<double>(2);
  EXPECT_EQ(first_at.offset, 0u);
  EXPECT_EQ(none_at.offset, 512u);  // 260 bytes take up two times 256
  EXPECT_EQ(last_at.offset, 512u);
  EXPECT_EQ(room.bytes(), 768u);

  Upload upload;
  upload.add(first);
  upload.add(none);
  upload.add(last);
  std::vector<std::byte> block = upload.bytes();
  ASSERT_EQ(block.size(), room.bytes());
  EXPECT_EQ(first_at.in(block.data())[64], 3);
  EXPECT_EQ(last_at.in(block.data())[0], 1.5);
  EXPECT_EQ(last_at.in(block.data())[1], 2.5);
}

}  // namespace
}  // namespace attnbench
