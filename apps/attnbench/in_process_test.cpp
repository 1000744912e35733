// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/in_process.h"

#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace attnbench {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(HangWatch, tells_once_which_step_takes_long_and_ends_a_process_that_does_not_come_back) {
  std::atomic<int> signal = 0, ended_by = 0;
  std::vector<std::string> notes;
  {
    HangWatch watch({.note = [&](const std::string& text) { notes.push_back(text); },
                     .signal = [&] { return signal.load(); },
                     .end = [&](int by) { ended_by = by; },
                     .notice = milliseconds(100),
                     .patience = milliseconds(100)});
    watch.step("mine · planning");
    std::this_thread::sleep_for(milliseconds(2500));
    EXPECT_EQ(ended_by, 0);
    signal = 15;
    for (int i = 0; i < 200 && ended_by == 0; ++i) std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_EQ(ended_by, 15);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_THAT(notes[0], HasSubstr("no answer for 0.1 s: mine · planning"));
  EXPECT_THAT(notes[1], HasSubstr("signal 15: mine · planning does not come back"));
}

}  // namespace
}  // namespace attnbench
