// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/hybrid/hybrid_backend.h"

#include "backends/paged_fa/paged_fa.h"
#include "backends/splitkv/splitkv.h"
#include "backends/testing/conformance.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench {
namespace {

std::unique_ptr<Backend> make_gpu_pair() {
  auto prefill = std::make_unique<paged_fa::PagedFaBackend>();
  auto decode = std::make_unique<splitkv::SplitKvBackend>();
  BackendInfo info = hybrid_info("pair", prefill->info(), decode->info(), Phase::kPrefill);
  return std::make_unique<HybridBackend>(std::move(info), std::move(prefill), std::move(decode),
                                         Phase::kPrefill);
}

TEST(HybridGpu, conforms) {
  if (const std::string absence = cuda_absence(); !absence.empty()) GTEST_SKIP() << absence;
  conformance::expect_all(make_gpu_pair, *make_cuda_device(0));
}

}  // namespace
}  // namespace attnbench
