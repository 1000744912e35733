// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/wrappers.h"

#include <gtest/gtest.h>

#include "backends/testing/conformance.h"
#include "backends/torch_native/torch_native.h"

namespace attnbench {
namespace {

std::unique_ptr<Backend> joining() {
  return with_concat_mla_q(std::make_unique<torch_native::TorchNativeBackend>(), copy_rows_on_cpu);
}

TEST(ConcatMlaQ, agree_with_the_reference_in_kernels_that_take_them_as_one_tensor) {
  const auto device = make_cpu_device();
  for (const Case& c : small_queries_apart()) {
    const auto backend = joining();
    ASSERT_TRUE(conformance::supports(*backend, c, *device)) << c.id;
    Fixture fixture(c, *device);
    for (const Fill fill : {Fill::kNeedle, Fill::kNormal}) {
      conformance::expect_agreement(*backend, c, fill, *device, fixture);
    }
  }
}

TEST(ConcatMlaQ, are_refused_where_nothing_joins_them) {
  const Case c = small_queries_apart().front();
  const torch_native::TorchNativeBackend alone;
  const FormatChoice choice = choose_format(alone, problem_of(c), c.kv_cache.layout);
  EXPECT_EQ(choice.support.reason(), "reads no queries that come as two tensors");
}

TEST(ConcatMlaQ, leave_other_steps_as_they_are) {
  const auto device = make_cpu_device();
  Fixture fixture(small_mla(), *device);
  PlanMemory memory(*device);
  (void)joining()->plan(fixture.batch(), memory);
  EXPECT_TRUE(memory.part(0).memory().empty()) << "no workspace behind a copy";
}

}  // namespace
}  // namespace attnbench
