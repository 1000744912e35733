// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/timer_check.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "lib/base/error.h"
#include "lib/measure/measure.h"

namespace attnbench {
namespace {

/// Finds every work `offset_us` too long, and the rest by `factor`.
class BiasedTimer final : public SampleTimer {
 public:
  BiasedTimer(double factor, double offset_us) : factor_(factor), offset_us_(offset_us) {}
  [[nodiscard]] TimedSample time(const SampleSteps&) override {
    return {length_us * factor_ + offset_us_, 0, 0};
  }
  [[nodiscard]] double idle_lead_us(const SampleSteps&) override { return 0; }
  [[nodiscard]] double clock_mhz_over(double, const Work&, const Work&) override { return 0; }

  double length_us = 0;

 private:
  double factor_, offset_us_;
};

std::vector<TimerReading> readings_of(BiasedTimer timer) {
  return read_known_lengths(timer, [&](double us) {
    timer.length_us = us;
    return [](Stream&) {};
  });
}

TEST(TimerCheck, reads_known_lengths_without_the_cost_of_launching) {
  const auto readings = readings_of(BiasedTimer(1, 1.4));
  ASSERT_EQ(readings.size(), 3u);
  for (const TimerReading& reading : readings) {
    EXPECT_NEAR(reading.found_us, reading.known_us, 1e-9);
  }
  EXPECT_NO_THROW(refuse_wrong_readings(readings));
}

TEST(TimerCheck, refuses_a_timer_that_is_three_percent_off_with_both_figures) {
  try {
    refuse_wrong_readings(readings_of(BiasedTimer(1.03, 0)));
    FAIL() << "accepted";
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("found 103.00 us for a kernel that lasts 100 us"),
              std::string::npos)
        << error.what();
  }
  EXPECT_NO_THROW(refuse_wrong_readings(readings_of(BiasedTimer(1.02, 0))));
}

TEST(TimerCheck, refuses_a_timer_that_finds_nothing_at_all) {
  EXPECT_THROW(refuse_wrong_readings(readings_of(BiasedTimer(0, 0))), EnvironmentError);
  const TimerReading not_a_number{100, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW(refuse_wrong_readings(std::span(&not_a_number, 1)), EnvironmentError);
}

TEST(TimerCheck, has_nothing_to_say_on_a_cpu) {
  const auto device = make_cpu_device(1);
  EXPECT_NO_THROW(check_timer(*device));
}

}  // namespace
}  // namespace attnbench
