// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/progress_line.h"

#include <gtest/gtest.h>

#include <sstream>

#include "lib/view/units.h"

namespace attnbench {
namespace {

TEST(ProgressLine, is_never_wider_than_the_terminal) {
  const std::string id = "a_rather_long_mix_name_for_the_traffic_of_tuesday/ps16,NHD,shuffled";
  const std::string figures = " · cpu_flash · round 6 · ±0.8 % → 0.1 % · 41 s left of the run";
  for (const std::size_t width : {1u, 5u, 20u, 40u, 79u, 80u, 120u, 200u}) {
    EXPECT_LE(display_width(progress_text("case 4/11 ", id, figures, width)), width);
    std::ostringstream err;
    ProgressLine line(
        err, [&] { return width; }, 11);
    line.next_case(id);
    line.show("cpu_flash · round 6 · ±0.8 % → 0.1 %", 41);
    const std::string text = err.str();
    if (text.empty()) continue;
    EXPECT_LT(display_width(text.substr(text.rfind('K') + 1)), width);
  }
}

TEST(ProgressLine, shows_a_wait_that_is_of_no_case) {
  std::ostringstream err;
  ProgressLine line(
      err, [] { return std::size_t{12}; }, 11);
  line.show("waiting for rain");
  EXPECT_EQ(err.str(), "\r\x1b[Kwaiting fo…");
  line.clear();
  EXPECT_TRUE(err.str().ends_with("\r\x1b[K"));
}

TEST(ProgressLine, shortens_the_case_before_the_figures) {
  EXPECT_EQ(progress_text("case 1/2 ", "chat/ps16", " · 9 s", 80), "case 1/2 chat/ps16 · 9 s");
  EXPECT_EQ(progress_text("case 1/2 ", "a_long_name_of_a_mix", " · 9 s", 30),
            "case 1/2 a_long_name_of… · 9 s");
}

TEST(ProgressLine, writes_nothing_where_there_is_no_terminal) {
  std::ostringstream err;
  ProgressLine line(err, {}, 1);
  line.next_case("chat");
  line.show("round 1", 1);
  line.clear();
  EXPECT_EQ(err.str(), "");
}

TEST(ProgressLine, writes_whole_lines_into_a_pipe_but_no_more_often_than_asked_for) {
  std::ostringstream err;
  ProgressLine seldom(err, {}, 2, 3600);
  seldom.next_case("chat");
  seldom.show("round 1", 41);
  EXPECT_EQ(err.str(), "");
  ProgressLine often(err, {}, 2, 1e-9);
  often.next_case("chat");
  often.show("round 1", 0);
  often.show("waiting");
  often.clear();
  EXPECT_EQ(err.str(), "case 1/2 chat · round 1\nwaiting\n");
}

TEST(ProgressLine, does_not_pass_on_what_steers_a_terminal) {
  std::ostringstream err;
  ProgressLine line(
      err, [] { return std::size_t{80}; }, 1);
  line.next_case("chat\x1b]0;owned\x07");
  line.show("round 1\x1b[31m", 0);
  EXPECT_EQ(err.str(),
            "\r\x1b[K"
            "case 1/1 chat\\x1b]0;owned\\x07 · round 1\\x1b[31m");
}

TEST(RemainingTime, is_that_of_the_run_and_not_of_the_case) {
  RemainingTime left(4);
  EXPECT_EQ(left.seconds(100, 0), 0) << "nothing is known";
  left.case_begins(100);
  EXPECT_EQ(left.seconds(101, 0), 0) << "still nothing";
  EXPECT_DOUBLE_EQ(left.seconds(102, 8), 8 + 3 * 10) << "three more like the first, 10 s each";
  left.case_begins(110);
  left.case_begins(130);
  EXPECT_DOUBLE_EQ(left.seconds(130, 0), 15 + 15) << "the mean of those that are over";
  EXPECT_DOUBLE_EQ(left.seconds(135, 25), 25 + 60.0 / 3);
  left.case_begins(160);
  EXPECT_DOUBLE_EQ(left.seconds(162, 3), 3) << "the last one";
}

TEST(RemainingTime, is_told_in_words_as_coarse_as_it_is_known) {
  EXPECT_EQ(rough_time(0.6), "1 s");
  EXPECT_EQ(rough_time(41.2), "41 s");
  EXPECT_EQ(rough_time(99.5), "2 min");
  EXPECT_EQ(rough_time(3600), "60 min");
  EXPECT_EQ(rough_time(12000), "3 h 20 min");
}

}  // namespace
}  // namespace attnbench
