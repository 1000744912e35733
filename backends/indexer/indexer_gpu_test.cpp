// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/indexer/indexer.h"
#include "backends/testing/indexer_conformance.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench::indexer {
namespace {

TEST(IndexerCuda, scores_the_keys_that_queries_see_of_all_small_cases) {
  if (const std::string absence = cuda_absence(); !absence.empty()) GTEST_SKIP() << absence;
  const auto device = make_cuda_device(0);
  conformance::expect_scored_keys([] { return std::make_unique<GpuIndexer>(); }, *device);
}

}  // namespace
}  // namespace attnbench::indexer
