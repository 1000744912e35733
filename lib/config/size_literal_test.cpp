// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/size_literal.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

TEST(SizeLiteral, takes_plain_numbers_and_binary_suffixes) {
  EXPECT_EQ(parse_size("0"), 0);
  EXPECT_EQ(parse_size("4096"), 4096);
  EXPECT_EQ(parse_size("4k"), 4096);
  EXPECT_EQ(parse_size("128k"), 131072);
  EXPECT_EQ(parse_size("1m"), 1048576);
}

TEST(SizeLiteral, refuses_everything_else) {
  for (const char* text :
       {"", "k", "-1", "+1", "1.5k", "4K", "4kb", "4 k", " 4", "4k\n", "0x10", "1g"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(SizeLiteral, of_memory_takes_g_too) {
  EXPECT_EQ(parse_bytes("141g"), 141LL << 30);
  EXPECT_EQ(parse_bytes("512m"), 512LL << 20);
  EXPECT_EQ(parse_bytes("7"), 7);
  for (const char* text : {"g", "1.5g", "-1g", "1gb", "9223372036g"}) {
    EXPECT_EQ(parse_bytes(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(SizeLiteral, refuses_what_does_not_fit_63_bits) {
  EXPECT_EQ(parse_size("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(parse_size("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_size("9007199254740992k"), std::nullopt);
}

}  // namespace
}  // namespace attnbench
