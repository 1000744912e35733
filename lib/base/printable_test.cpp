// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/printable.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

using namespace std::string_view_literals;

TEST(Printable, leaves_text_line_breaks_and_tabs_as_they_are) {
  for (const std::string_view text : {"", "plain", "grün · ± 5 µs → 注意力", "a\n\tb", "🙂"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, shows_what_would_steer_a_terminal_by_its_number) {
  EXPECT_EQ(printable("\x1b[31mred\x1b]0;title\x07"), "\\x1b[31mred\\x1b]0;title\\x07");
  EXPECT_EQ(printable("a\0b\x7f\r"sv), "a\\x00b\\x7f\\x0d");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m")
      << "CSI as one character";
  EXPECT_EQ(printable("safe\u202egnp.exe"), "safe\\u202egnp.exe");
}

TEST(Printable, shows_bytes_that_are_no_utf8_by_their_number) {
  EXPECT_EQ(printable("gr\xfcn"), "gr\\xfcn");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82") << "cut short";
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "longer than need be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last";
  EXPECT_EQ(printable("\xef\xbf\xbf"), "\\uffff") << "no character";
}

}  // namespace
}  // namespace attnbench
