// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/error.h"

#include <gtest/gtest.h>

#include <array>

namespace attnbench {
namespace {

TEST(NearestName, finds_a_missing_underscore) {
  const std::array<std::string_view, 3> names{"kv_len", "q_len", "count"};
  EXPECT_EQ(nearest_name("kvlen", names), "kv_len");
}

TEST(NearestName, finds_two_letters_swapped) {
  const std::array<std::string_view, 2> names{"decode", "extend"};
  EXPECT_EQ(nearest_name("deocde", names), "decode");
}

TEST(NearestName, stays_silent_on_another_word) {
  const std::array<std::string_view, 2> names{"decode", "extend"};
  EXPECT_EQ(nearest_name("wombat", names), "");
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
