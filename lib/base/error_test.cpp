// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/error.h"

#include <gtest/gtest.h>

#include <array>

namespace attnbench {
namespace {

TEST(LikelyNames, hold_a_missing_underscore) {
  const std::array<std::string_view, 3> names{"kv_len", "q_len", "count"};
  EXPECT_EQ(likely_names("kvlen", names), "'kv_len'");
}

TEST(LikelyNames, hold_two_letters_swapped) {
  const std::array<std::string_view, 2> names{"decode", "extend"};
  EXPECT_EQ(likely_names("deocde", names), "'decode'");
}

TEST(LikelyNames, are_none_for_another_word) {
  const std::array<std::string_view, 2> names{"decode", "extend"};
  EXPECT_EQ(likely_names("wombat", names), "");
}

TEST(LikelyNames, are_the_few_that_the_word_is_a_part_of) {
  const std::array<std::string_view, 5> names{"qwen3-next-80b-a3b", "qwen3-30b-a3b",
                                              "qwen3-coder-480b-a35b", "qwen3-235b-a22b",
                                              "gemma-3-27b"};
  EXPECT_EQ(likely_names("qwen3-next", names), "'qwen3-next-80b-a3b'");
  EXPECT_EQ(likely_names("-a3b", names), "'qwen3-next-80b-a3b' or 'qwen3-30b-a3b'");
  EXPECT_EQ(likely_names("0b-a3", names),
            "'qwen3-next-80b-a3b', 'qwen3-30b-a3b' or 'qwen3-coder-480b-a35b'");
  EXPECT_EQ(likely_names("qwen3", names), "") << "four names are a list, no question";
  EXPECT_EQ(likely_names("27", names), "") << "two letters are part of too much";
}

TEST(Render, underlines_the_word_below_its_place) {
  const Diagnostic d{{"s.yaml", 2, 3}, 4, "unknown key 'abcd'", "allowed here: x", "  abcd: 1"};
  EXPECT_EQ(render(d),
            "s.yaml:2:3: error: unknown key 'abcd'\n"
            "    2 |   abcd: 1\n"
            "      |   ^~~~\n"
            "   allowed here: x\n");
}

TEST(ConfigError, reports_every_mistake_of_a_file) {
  const ConfigError error({{{"a", 1, 1}, 1, "one", "", ""}, {{"a", 2, 1}, 1, "two", "", ""}});
  EXPECT_STREQ(error.what(), "a:1:1: error: one\na:2:1: error: two\n");
}

}  // namespace
}  // namespace attnbench
