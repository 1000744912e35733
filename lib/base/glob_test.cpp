// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/glob.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

TEST(Glob, takes_a_star_for_any_run_and_a_question_mark_for_one_character) {
  EXPECT_TRUE(glob_matches("mla*", "mla/ps16"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*b*c", "a/b/b/c"));
  EXPECT_TRUE(glob_matches("ps?", "ps1"));
  EXPECT_FALSE(glob_matches("ps?", "ps16"));
  EXPECT_FALSE(glob_matches("mla", "mla/ps16"));
  EXPECT_FALSE(glob_matches("", "a"));
}

}  // namespace
}  // namespace attnbench
