// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cuda/cuda_device.h"

#include <gtest/gtest.h>

#include "lib/base/error.h"
#include "lib/device/cuda/cuda_error.h"

namespace attnbench {
namespace {

TEST(CudaAbsence, is_the_reason_that_making_a_device_gives) {
  const std::string absence = cuda_absence();
  if (absence.empty()) GTEST_SKIP() << "there is a CUDA device";
  try {
    const auto device = make_cuda_device(0);
    FAIL() << "a device where there is none";
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(error.what(), absence);
  }
}

TEST(CudaError, names_the_call_the_error_and_its_text) {
  const CudaError error("cudaMalloc", "cudaErrorMemoryAllocation", "out of memory");
  EXPECT_STREQ(error.what(), "cudaMalloc: cudaErrorMemoryAllocation (out of memory)");
}

}  // namespace
}  // namespace attnbench
