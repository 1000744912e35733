// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "lib/device/cuda/check.cuh"
#include "lib/device/cuda/cuda_device.h"
#include "lib/device/cuda/timer_kernels.cuh"
#include "lib/device/device.h"

namespace attnbench {
namespace {

class SampleTimers : public testing::Test {
 protected:
  void SetUp() override {
    const std::string absence = cuda_absence();
    if (!absence.empty()) GTEST_SKIP() << absence;
    device_ = make_cuda_device(0);
    stream_ = device_->make_stream();
    timer_ = device_->make_timer(*stream_);
    ASSERT_NE(timer_, nullptr);
    spin_us(1)(*stream_);  // loads its module
    stream_->synchronize();
  }

  [[nodiscard]] static Work spin_us(std::uint64_t us) {
    return [us](Stream& stream) { enqueue_spin(stream, us * 1000); };
  }
  [[nodiscard]] double median_us(const Work& prepare, const Work& work) {
    std::vector<double> us;
    for (int i = 0; i < 21; ++i) us.push_back(timer_->time(prepare, work).us);
    std::ranges::nth_element(us, us.begin() + 10);
    return us[10];
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<SampleTimer> timer_;
  const Work nothing_ = [](Stream&) {};
};

TEST_F(SampleTimers, find_the_length_of_a_known_kernel) {
  for (const std::uint64_t us : {10u, 100u, 1000u}) {
    const double found = median_us(nothing_, spin_us(us));
    // Launching and ending a kernel, 0.6 to 1.1 us from card to card, is part of what is timed, and
    // no part of what the kernel spins.
    EXPECT_NEAR(found, static_cast<double>(us) + 0.6,
                std::max(0.6, 0.01 * static_cast<double>(us)));
  }
}

TEST_F(SampleTimers, find_next_to_nothing_for_no_work_and_for_an_empty_kernel) {
  EXPECT_LT(median_us(nothing_, nothing_), 0.1);
  EXPECT_GT(median_us(nothing_, spin_us(0)), 0.3) << "CUPTI says 0.6 on an H200";
  EXPECT_LT(median_us(nothing_, spin_us(0)), 1.5);
}

TEST_F(SampleTimers, leave_preparation_and_the_hosts_pace_out) {
  const Work slow_to_launch = [](Stream& stream) {
    enqueue_spin(stream, 50'000);
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2)) {
    }
    enqueue_spin(stream, 50'000);
  };
  EXPECT_NEAR(median_us(spin_us(3000), slow_to_launch), 100, 5);
  EXPECT_GE(timer_->time(nothing_, slow_to_launch).enqueue_us, 2000);
}

TEST_F(SampleTimers, time_a_replayed_graph_as_the_kernels_it_holds) {
  const auto graph = device_->record(*stream_, [](Stream& stream) {
    enqueue_spin(stream, 50'000);
    enqueue_spin(stream, 50'000);
  });
  ASSERT_NE(graph, nullptr);
  EXPECT_NEAR(median_us(nothing_, [&](Stream& stream) { graph->replay(stream); }), 100, 5);
}

TEST_F(SampleTimers, read_a_plausible_clock) {
  const double while_spinning = timer_->clock_mhz_over(0.02, nothing_, spin_us(500));
  EXPECT_GT(while_spinning, 200);
  EXPECT_LT(while_spinning, 4000);
  const TimedSample sample = timer_->time(nothing_, spin_us(2000));
  EXPECT_NEAR(sample.clock_mhz, while_spinning, 0.3 * while_spinning);
  // Mostly 0: too short to tell.
  EXPECT_LT(timer_->time(nothing_, nothing_).clock_mhz, 4000);
}

TEST_F(SampleTimers, name_work_that_waits_for_its_stream) {
  const Work waits = [](Stream& stream) { stream.synchronize(); };
  EXPECT_THROW(static_cast<void>(timer_->time(nothing_, waits)), HostSyncError);
  EXPECT_NEAR(median_us(nothing_, spin_us(100)), 100, 2.5) << "the timer still works";
}

TEST_F(SampleTimers, release_the_stream_when_work_throws) {
  const Work throws = [](Stream&) { throw std::runtime_error("no"); };
  EXPECT_THROW(static_cast<void>(timer_->time(nothing_, throws)), std::runtime_error);
  stream_->synchronize();
}

using Recordings = SampleTimers;

TEST_F(Recordings, are_not_run_by_being_made) {
  const auto begin = std::chrono::steady_clock::now();
  const auto graph = device_->record(*stream_, spin_us(500'000));
  stream_->synchronize();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(400));
}

TEST_F(Recordings, refuse_work_that_waits_or_allocates_and_leave_the_stream_usable) {
  const Work waits = [](Stream& stream) {
    static_cast<void>(cudaStreamSynchronize(static_cast<cudaStream_t>(stream.native())));
  };
  EXPECT_THROW(static_cast<void>(device_->record(*stream_, waits)), HostSyncError);
  const Work allocates = [](Stream&) {
    void* memory = nullptr;
    check_cuda(cudaMalloc(&memory, 1 << 20), "cudaMalloc");
    static_cast<void>(cudaFree(memory));
  };
  EXPECT_ANY_THROW(static_cast<void>(device_->record(*stream_, allocates)));
  EXPECT_NO_THROW(check_launch("nothing"));
  spin_us(10)(*stream_);
  stream_->synchronize();
}

}  // namespace
}  // namespace attnbench
