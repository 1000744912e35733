// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/processor_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace attnbench {
namespace {

using testing::HasSubstr;

// user nice system idle iowait irq softirq steal guest guest_nice
constexpr const char* kBegin =
    "cpu  100 20 30 1000 50 1 2 7 5 0\n"
    "cpu0 50 10 15 500 25 0 1 3 2 0\n"
    "cpu1 50 10 15 500 25 1 1 4 3 0\n"
    "intr 25126712 0\nctxt 5\n";
constexpr const char* kEnd =
    "cpu  220 40 40 1030 60 2 3 16 5 0\n"
    "cpu0 110 20 20 515 30 1 1 8 2 0\n"
    "cpu1 110 20 20 515 30 1 2 8 3 0\n";

TEST(ProcessorLoad, counts_all_but_idling_and_waiting_as_busy) {
  const auto begin = parse_processor_times(kBegin);
  ASSERT_TRUE(begin);
  EXPECT_EQ(begin->busy, 100 + 20 + 30 + 1 + 2 + 7);
  EXPECT_EQ(begin->idle, 1050);
  EXPECT_EQ(begin->processors, 2);
}

TEST(ProcessorLoad, leaves_out_what_this_program_used_itself) {
  const auto begin = parse_processor_times(kBegin), end = parse_processor_times(kEnd);
  ASSERT_TRUE(begin && end);
  const auto others = others_between(*begin, *end, 0.5, 1);  // 161 of 201 ticks were busy
  ASSERT_TRUE(others);
  EXPECT_NEAR(others->busy_processors, 2 * 161.0 / 201 - 0.5, 1e-9);
  EXPECT_EQ(others->processors, 2);
  EXPECT_EQ(others_between(*begin, *end, 5, 1)->busy_processors, 0);
  EXPECT_FALSE(others_between(*begin, *begin, 0, 1)) << "nothing has passed";
}

TEST(ProcessorLoad, does_not_guess_from_another_text) {
  EXPECT_FALSE(parse_processor_times(""));
  EXPECT_FALSE(parse_processor_times("cpu  1 2 3\ncpu0 1 2 3\n"));
  EXPECT_FALSE(parse_processor_times("cpu  1 2 3 4 5 6 7 8\n")) << "of no processor";
  EXPECT_FALSE(parse_processor_times("<html>"));
}

/// Plays seconds of a machine with two processors; the last one lasts.
struct Machine {
  std::vector<double> busy;
  std::size_t watched = 0;
  std::string line{};
  bool stopped = false;

  std::string wait(double limit_s) {
    return wait_until_quiet(limit_s,
                            {.watch_a_second = [this]() -> std::optional<OtherPrograms> {
                               return OtherPrograms{busy[std::min(watched++, busy.size() - 1)], 2};
                             },
                             .progress = [this](const std::string& text) { line = text; },
                             .stop_requested = [this] { return stopped; }});
  }
};

TEST(QuietWait, takes_three_quiet_seconds_on_end) {
  Machine machine{{1.5, 0.02, 0.02, 0.9, 0, 0, 0.05, 0}};
  EXPECT_EQ(machine.wait(60), "");
  EXPECT_EQ(machine.watched, 7u);
}

TEST(QuietWait, ends_with_a_note_where_the_machine_stays_busy) {
  Machine machine{{1.26}};
  EXPECT_EQ(machine.wait(120),
            "note: after 2 min of --quiet-wait other programs keep 1.3 of 2 processors busy; in a "
            "container, all programs of the machine count");
  EXPECT_EQ(machine.watched, 120u);
  EXPECT_EQ(machine.line,
            "waiting, 2 min of at most 2 min · other programs keep 1.3 of 2 processors busy");
}

TEST(QuietWait, ends_at_once_when_it_is_told_to_or_nothing_can_be_seen) {
  Machine machine{{2}};
  machine.stopped = true;
  EXPECT_EQ(machine.wait(60), "");
  EXPECT_EQ(machine.watched, 0u);
  EXPECT_THAT(wait_until_quiet(60, {.watch_a_second = [] { return std::nullopt; },
                                    .progress = [](const std::string&) {},
                                    .stop_requested = [] { return false; }}),
              HasSubstr("does not say how busy it is"));
}

}  // namespace
}  // namespace attnbench
