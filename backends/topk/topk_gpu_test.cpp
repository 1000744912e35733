// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/testing/select_conformance.h"
#include "backends/topk/topk.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench::topk {
namespace {

TEST(TopKCuda, selects_the_keys_of_the_highest_scores_of_all_small_cases) {
  if (const std::string absence = cuda_absence(); !absence.empty()) GTEST_SKIP() << absence;
  const auto device = make_cuda_device(0);
  conformance::expect_selected_keys([] { return std::make_unique<GpuSelector>(); }, *device);
}

}  // namespace
}  // namespace attnbench::topk
