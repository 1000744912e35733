// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/quiet_wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace attnbench {
namespace {

using testing::HasSubstr;

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
