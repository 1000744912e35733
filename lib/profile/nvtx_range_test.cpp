// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/nvtx_range.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace attnbench {
namespace {

TEST(NvtxRange, opens_and_closes_without_a_profiler) {
  const NvtxRange outer("case");
  const NvtxRange inner("case/backend");
}

TEST(NvtxRange, has_one_owner) { EXPECT_FALSE(std::is_copy_constructible_v<NvtxRange>); }

}  // namespace
}  // namespace attnbench
