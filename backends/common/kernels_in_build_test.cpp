// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kernels_in_build.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

TEST(KernelsInBuild, a_full_build_names_only_what_the_backend_never_has) {
  EXPECT_EQ(no_kernel_reason("head dims 64 and 128 only", true), "head dims 64 and 128 only");
}

TEST(KernelsInBuild, a_build_with_few_kernels_says_which_it_has_and_how_it_was_made) {
  EXPECT_EQ(no_kernel_reason("head dims 64 and 128 only", false),
            "head dims 64 and 128 only; not all are in this build (ATTNBENCH_KERNELS=ci): bf16 "
            "with a cache in bf16 or e4m3; head dim 128 or MLA");
}

}  // namespace
}  // namespace attnbench
