// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <gtest/gtest.h>

#include "backends/mla/mla.h"
#include "backends/testing/conformance.h"
#include "backends/testing/graph_conformance.cuh"
#include "backends/wrappers/upcast_fp8_queries.h"
#include "lib/device/testing/gpu_test.h"

namespace attnbench {
namespace {

std::unique_ptr<Backend> make_padded_mla() {
  return with_padded_heads(std::make_unique<mla::MlaBackend>(), copy_rows_on_gpu);
}

class LatentQueriesGpu : public GpuTest {};

TEST_F(LatentQueriesGpu, that_come_apart_are_joined_for_kernels_that_take_one_tensor) {
  for (const bool padded : {false, true}) {
    for (const Case& c : small_queries_apart()) {
      std::unique_ptr<Backend> kernels = std::make_unique<mla::MlaBackend>();
      if (padded) kernels = make_padded_mla();
      const auto backend = with_concat_mla_q(
          with_upcast_fp8_queries(std::move(kernels), upcast_fp8_queries_on_gpu), copy_rows_on_gpu);
      ASSERT_TRUE(conformance::supports(*backend, c, *device_)) << c.id;
      Fixture fixture(c, *device_);
      conformance::expect_agreement(*backend, c, {Fill::kNeedle, Fill::kTag, Fill::kNormal},
                                    *device_, fixture);
    }
  }
}

TEST_F(LatentQueriesGpu, padded_to_128_heads_agree_with_the_reference) {
  const auto backend = make_padded_mla();
  for (const int heads : {1, 2, 16, 64, 127}) {
    Case c = small_mla();
    c.layer.heads_q = heads;
    ASSERT_TRUE(conformance::supports(*backend, c, *device_)) << heads;
    Fixture fixture(c, *device_);
    conformance::expect_agreement(*backend, c, {Fill::kNeedle, Fill::kTag, Fill::kNormal}, *device_,
                                  fixture);
  }
}

TEST_F(LatentQueriesGpu, padded_to_128_heads_are_replayed_as_a_graph) {
  conformance::expect_graph_replay(make_padded_mla, *device_);
}

}  // namespace
}  // namespace attnbench
