// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/trtllm_blocks.h"

#include <gtest/gtest.h>

#include "lib/base/error.h"

namespace attnbench {
namespace {

TEST(TrtllmPaddedBlocks, rounds_up_to_what_kernel_and_builder_both_divide) {
  EXPECT_EQ(trtllm_padded_blocks(130, 32), 128);
  EXPECT_EQ(trtllm_padded_blocks(130, 64), 64);
  EXPECT_EQ(trtllm_padded_blocks(5000, 32), 256);
  EXPECT_EQ(trtllm_padded_blocks(5000, 64), 128);
  EXPECT_THROW(static_cast<void>(trtllm_padded_blocks(130, 256)), InternalError);
}

}  // namespace
}  // namespace attnbench
