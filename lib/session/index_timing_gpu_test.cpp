// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/index_timing.h"

#include <gtest/gtest.h>

#include "lib/device/cuda/cuda_device.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench {
namespace {

class IndexTimings : public testing::Test {
 protected:
  void SetUp() override {
    const std::string absence = cuda_absence();
    if (!absence.empty()) GTEST_SKIP() << absence;
    gpu_ = make_cuda_device(0);
  }
  std::unique_ptr<Device> gpu_;
};

TEST_F(IndexTimings, are_of_kernels_and_of_the_host) {
  const Case c = small_plain_decode();
  const Fixture fixture(c, *gpu_);
  const IndexTiming timing = time_index_builds(fixture, *gpu_);
  EXPECT_GT(timing.device_us, 0.5) << "two kernels and more take longer";
  EXPECT_LT(timing.device_us, 1000);
  EXPECT_GT(timing.host_us, 0);
}

TEST_F(IndexTimings, of_nothing_are_nothing) {
  const Case c = small_idle();
  const Fixture fixture(c, *gpu_);
  EXPECT_EQ(time_index_builds(fixture, *gpu_).device_us, 0);
  const Case recurrent = small_delta_nets()[1];
  EXPECT_EQ(time_index_builds(Fixture(recurrent, *gpu_), *gpu_).device_us, 0);
  Case select = small_plain_decode();
  select.layer.selection = {.topk = 8};
  select.step = StepPart::kSelect;
  EXPECT_EQ(time_index_builds(Fixture(select, *gpu_), *gpu_).host_us, 0) << "it has no cache";
}

}  // namespace
}  // namespace attnbench
