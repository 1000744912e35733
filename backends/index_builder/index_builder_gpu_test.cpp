// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/index_builder/index_builder.h"
#include "backends/testing/index_conformance.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench::index_builder {
namespace {

TEST(IndexBuilderCuda, builds_the_arrays_of_all_small_cases) {
  if (const std::string absence = cuda_absence(); !absence.empty()) GTEST_SKIP() << absence;
  const auto device = make_cuda_device(0);
  conformance::expect_index_arrays([] { return std::make_unique<GpuBuilder>(); }, *device);
}

}  // namespace
}  // namespace attnbench::index_builder
