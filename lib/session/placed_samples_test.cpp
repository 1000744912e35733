// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/placed_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/device/device.h"
#include "lib/measure/measure.h"

namespace attnbench {
namespace {

TEST(PlacedSamples, take_turns_and_load_a_placement_before_its_first_visit) {
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  std::string runs;  // which placement, in the order of all forwards
  std::vector<std::unique_ptr<DeviceSamples>> placements;
  for (const char name : {'a', 'b', 'c'}) {
    TimedCell cell;
    cell.forward = [&runs, name](Stream&) { runs += name; };
    placements.push_back(
        std::make_unique<DeviceSamples>(std::move(cell), real_clock(), *device, *stream, nullptr));
  }
  PlacedSamples samples(std::move(placements));
  const auto never = [] { return false; };
  WarmUp first;
  samples.warm_up(first, 0, 1, never);
  EXPECT_THAT(runs, testing::MatchesRegex("a+"));
  runs.clear();
  for (int visit = 0; visit < 5; ++visit) {
    SampleBlock block;
    samples.take(block, 2, 1, never);
    EXPECT_EQ(block.samples.size(), 2U);
  }
  EXPECT_EQ(runs,
            "aa"
            "bbb"
            "ccc"
            "aa"
            "bb");
}

// A run compares a visit's time with its own clock: what is left out looks like a clock that was
// slowed. A forward of a long context takes milliseconds.
TEST(PlacedSamples, count_the_loading_of_a_placement_as_time_of_its_visit) {
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  double now_s = 0;
  std::vector<std::unique_ptr<DeviceSamples>> placements;
  for (int placement = 0; placement < 2; ++placement) {
    TimedCell cell;
    cell.forward = [&](Stream&) { now_s += 1; };
    placements.push_back(std::make_unique<DeviceSamples>(
        std::move(cell), [&] { return now_s; }, *device, *stream, nullptr));
  }
  PlacedSamples samples(std::move(placements));
  const auto never = [] { return false; };
  WarmUp first;
  samples.warm_up(first, 0, 1, never);
  std::vector<double> spent_s;
  for (int visit = 0; visit < 4; ++visit) {
    SampleBlock block;
    samples.take(block, 2, 10, never);
    spent_s.push_back(block.spent_s);
  }
  EXPECT_THAT(spent_s, testing::ElementsAre(2, 3, 2, 2));
}

/// Says that every sample's work began 40 us after the flush, and counts who asks how long it is on
/// an idle device.
class CountingTimer final : public SampleTimer {
 public:
  [[nodiscard]] TimedSample time(const SampleSteps&) override { return {200, 3, 1980, 40}; }
  [[nodiscard]] double idle_lead_us(const SampleSteps&) override {
    ++asked;
    return 20;
  }
  [[nodiscard]] double clock_mhz_over(double, const Work&, const Work&) override { return 1980; }

  int asked = 0;
};

TEST(PlacedSamples, find_the_lead_of_an_idle_device_once_for_all_placements) {
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  CountingTimer timer;
  std::vector<std::unique_ptr<DeviceSamples>> placements;
  for (int placement = 0; placement < 3; ++placement) {
    TimedCell cell;
    cell.forward = [](Stream&) {};
    placements.push_back(
        std::make_unique<DeviceSamples>(std::move(cell), real_clock(), *device, *stream, &timer));
  }
  PlacedSamples samples(std::move(placements));
  const auto never = [] { return false; };
  WarmUp first;
  samples.warm_up(first, 0, 1, never);
  for (int visit = 0; visit < 4; ++visit) {
    SampleBlock block;
    samples.take(block, 1, 10, never);
    EXPECT_TRUE(block.samples.front().disturbed) << "visit " << visit;
  }
  EXPECT_EQ(timer.asked, 1);
}

}  // namespace
}  // namespace attnbench
