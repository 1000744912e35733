// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/upcast_fp8_queries.h"

#include <gtest/gtest.h>

#include "backends/cascade/cascade.h"
#include "backends/mla/mla.h"
#include "backends/paged_fa/paged_fa.h"
#include "backends/splitkv/splitkv.h"
#include "backends/testing/conformance.h"
#include "lib/device/testing/gpu_test.h"

namespace attnbench {
namespace {

class UpcastFp8QueriesGpu : public GpuTest {
 protected:
  /// How many of the small cases with activations in fp8 the backend takes, and gets right: in a
  /// head dim of which every build has kernels.
  int agreeing(std::unique_ptr<Backend> kernels) {
    const auto backend = with_upcast_fp8_queries(std::move(kernels), upcast_fp8_queries_on_gpu);
    int taken = 0;
    for (Case c : small_fp8_activations()) {
      if (!c.layer.shares_row_of_k_and_v()) c.layer.head_dim_qk = c.layer.head_dim_v = 128;
      if (!conformance::supports(*backend, c, *device_)) continue;
      Fixture fixture(c, *device_);
      conformance::expect_agreement(*backend, c, {Fill::kNeedle, Fill::kTag, Fill::kNormal},
                                    *device_, fixture);
      ++taken;
    }
    return taken;
  }
};

TEST_F(UpcastFp8QueriesGpu, agree_with_the_reference_in_splitkv_with_scales_of_any_kind) {
  EXPECT_GE(agreeing(std::make_unique<splitkv::SplitKvBackend>(splitkv::SplitRule::kFill)), 12);
}

TEST_F(UpcastFp8QueriesGpu, agree_with_the_reference_in_paged_fa_with_scales_of_any_kind) {
  EXPECT_GE(agreeing(std::make_unique<paged_fa::PagedFaBackend>()), 12);
}

TEST_F(UpcastFp8QueriesGpu, agree_with_the_reference_in_mla_with_scales_of_any_kind) {
  EXPECT_GE(agreeing(std::make_unique<mla::MlaBackend>()), 3);
}

TEST_F(UpcastFp8QueriesGpu, agree_with_the_reference_in_cascade) {
  EXPECT_GE(agreeing(std::make_unique<cascade::CascadeBackend>()), 4);
}

}  // namespace
}  // namespace attnbench
