// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "lib/measure/device_samples.h"

namespace attnbench {
namespace {

TEST(SettledClock, waits_until_three_windows_agree_within_one_percent) {
  const std::vector<double> windows{345, 900, 1500, 1940, 1980, 1975, 1979, 7};
  std::size_t next = 0;
  EXPECT_EQ(settled_clock_mhz([&](double) { return windows.at(next++); }), 1979);
  EXPECT_EQ(next, 7u);
}

TEST(SettledClock, takes_three_windows_on_a_warm_device) {
  double seconds = 0;
  EXPECT_EQ(settled_clock_mhz([&](double window_s) {
              seconds += window_s;
              return 1410.0;
            }),
            1410);
  EXPECT_NEAR(seconds, 0.06, 1e-9);
}

TEST(SettledClock, takes_one_short_window_that_agrees_with_the_cell_before) {
  double seconds = 0;
  EXPECT_EQ(settled_clock_mhz(
                [&](double window_s) {
                  seconds += window_s;
                  return 1970.0;
                },
                1980),
            1970);
  EXPECT_NEAR(seconds, 0.005, 1e-9);
}

TEST(SettledClock, takes_three_more_windows_where_the_clock_is_another_than_the_cell_s_before) {
  const std::vector<double> windows{1760, 1755, 1750, 1752, 7};
  std::size_t next = 0;
  EXPECT_EQ(settled_clock_mhz([&](double) { return windows.at(next++); }, 1980), 1752);
  EXPECT_EQ(next, 4u);
}

TEST(SettledClock, gives_up_after_three_seconds_with_the_last_window) {
  double seconds = 0;
  double mhz = 1000;
  EXPECT_EQ(settled_clock_mhz([&](double window_s) {
              seconds += window_s;
              return mhz = mhz == 1000 ? 1100 : 1000;
            }),
            1000);
  EXPECT_NEAR(seconds, 3, 1e-9);
}

TEST(SettledClock, is_unknown_where_a_window_has_no_clock) {
  EXPECT_EQ(settled_clock_mhz([](double) { return 0.0; }), 0);
}

}  // namespace

}  // namespace attnbench
