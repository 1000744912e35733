// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/view/text_layout.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace attnbench {
namespace {

TEST(TextLayout, fills_every_line_behind_the_indentation) {
  EXPECT_EQ(wrapped("one two three four five six", 13, 3),
            "   one two\n   three four\n   five six\n");
}

TEST(TextLayout, joins_parts_and_indents_later_lines_alone) {
  const std::array<std::string, 4> parts = {"a case", "", "2 seqs", "9 tokens"};
  EXPECT_EQ(join_parts(parts, 15, 4), "a case · 2 seqs\n    9 tokens");
}

}  // namespace
}  // namespace attnbench
