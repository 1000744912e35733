// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "lib/device/cuda/cuda_device.h"

namespace attnbench {

/// A test on this machine's first GPU; skipped where there is none, with the reason.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string absence = cuda_absence();
    if (!absence.empty()) GTEST_SKIP() << absence;
    device_ = make_cuda_device();
  }

  std::unique_ptr<Device> device_;
};

}  // namespace attnbench
