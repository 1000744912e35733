// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <span>
#include <vector>

#include "lib/device/cuda/timer_kernels.cuh"
#include "lib/device/testing/gpu_test.h"
#include "lib/measure/measure.h"
#include "lib/measure/timer_check.h"

namespace attnbench {
namespace {

class GpuMeasure : public GpuTest {
 protected:
  [[nodiscard]] static Work spin(double us) {
    return [us](Stream& on) { enqueue_spin(on, static_cast<std::uint64_t>(us * 1e3)); };
  }
};

TEST_F(GpuMeasure, passes_the_timer_check_within_one_percent_or_a_third_of_a_microsecond) {
  EXPECT_NO_THROW(check_timer(*device_));
  const auto stream = device_->make_stream();
  const auto timer = device_->make_timer(*stream);
  for (const TimerReading& reading : read_known_lengths(*timer, spin)) {
    EXPECT_NEAR(reading.found_us, reading.known_us, std::max(0.3, 0.01 * reading.known_us));
  }
}

TEST_F(GpuMeasure, converges_on_known_kernels_eager_and_as_a_graph) {
  const std::vector<TimedCell> cells{{"eager", CacheState::kCold, spin(100), LaunchMode::kEager},
                                     {"graph", CacheState::kCold, spin(100), LaunchMode::kGraph},
                                     {"warm", CacheState::kWarm, spin(20), LaunchMode::kGraph}};
  const auto timings = measure_cells(cells, *device_, {}, 1, {});
  EXPECT_NEAR(timings[0].median_us, 100, 3);
  EXPECT_NEAR(timings[1].median_us, 100, 3);
  EXPECT_NEAR(timings[2].median_us, 20, 3);
  for (const CellTiming& timing : timings) {
    EXPECT_EQ(timing.status, MeasureStatus::kConverged) << timing.failure;
    EXPECT_GT(timing.enqueue_us, 0);
    EXPECT_LT(timing.enqueue_us, 50);
    EXPECT_GT(timing.sm_mhz, 200);
  }
}

TEST_F(GpuMeasure, names_a_forward_that_waits_and_measures_the_others) {
  const std::vector<TimedCell> cells{
      {"waits", CacheState::kCold, [](Stream& stream) { stream.synchronize(); }},
      {"spin", CacheState::kCold, spin(50)}};
  const auto timings = measure_cells(cells, *device_, {}, 1, {});
  EXPECT_EQ(timings[0].status, MeasureStatus::kHostSync);
  EXPECT_NE(timings[0].failure.find("waits"), std::string::npos);
  EXPECT_EQ(timings[1].status, MeasureStatus::kConverged);
}

TEST_F(GpuMeasure, leaves_nothing_in_the_cache_that_a_side_stream_has_read_beforehand) {
  const auto memory = device_->allocate(std::size_t{20} << 20, "reads");
  const auto side = device_->make_stream();
  const std::span<const std::byte> all(memory->data(), memory->size());
  const Work read = [&](Stream& on) { device_->touch(on, {&all, 1}); };
  const Work reads_first = [&](Stream& on) {
    device_->touch(*side, {&all, 1});  // waits for nothing
    read(on);
  };
  const std::vector<TimedCell> cells{{"honest", CacheState::kCold, read},
                                     {"side stream", CacheState::kCold, reads_first},
                                     {"warm", CacheState::kWarm, read}};
  const auto timings = measure_cells(cells, *device_, {}, 1, {});
  const double honest_us = timings[0].median_us;
  EXPECT_LT(timings[2].median_us, 0.8 * honest_us) << "what there is to gain";
  EXPECT_GT(timings[1].median_us, 0.95 * honest_us);
  EXPECT_LE(timings[0].disturbed, 0.05 * timings[0].samples);
}

TEST_F(GpuMeasure, counts_samples_before_which_another_stream_was_busy) {
  const auto side = device_->make_stream();
  const Work beside = [&](Stream& on) {
    enqueue_spin(*side, 300'000);
    spin(20)(on);
  };
  const std::vector<TimedCell> cells{{"alone", CacheState::kServing, spin(20)},
                                     {"beside", CacheState::kServing, beside}};
  const auto timings = measure_cells(cells, *device_, {}, 1, {});
  EXPECT_LE(timings[0].disturbed, 0.05 * timings[0].samples);
  // Of a hundred launches on the other stream three to six reach the GPU behind the sample's begin.
  EXPECT_GE(timings[1].disturbed, 0.9 * timings[1].samples);
}

TEST_F(GpuMeasure, finds_ceilings_of_a_real_gpu) {
  const Ceilings ceilings = measure_ceilings(*device_);
  std::cout << "read " << ceilings.read_bytes_per_s / 1e9 << " GB/s, copy "
            << ceilings.copy_bytes_per_s / 1e9 << " GB/s, " << ceilings.flop_per_s / 1e12
            << " TFLOP/s\n";
  EXPECT_GT(ceilings.read_bytes_per_s, 1e11);
  EXPECT_LT(ceilings.read_bytes_per_s, 1e13);
  EXPECT_GT(ceilings.copy_bytes_per_s, ceilings.read_bytes_per_s / 2);
  EXPECT_GT(ceilings.flop_per_s, 1e13);
  EXPECT_LT(ceilings.flop_per_s, 1e16);
}

}  // namespace
}  // namespace attnbench
