// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/kernel_support.h"

#include <gmock/gmock.h>

#include <string>

namespace attnbench {
namespace {

using testing::HasSubstr;

Problem bf16_from(DType cache) {
  Problem problem;
  problem.dtype = DType::kBF16;
  problem.cache.dtype = cache;
  return problem;
}

std::string refusal(const Problem& problem) {
  return supports_key_value_heads(problem, kKernelFeatures, true).reason();
}

TEST(KeyValueHeads, are_supported_in_the_activations_type_and_in_fp8) {
  for (const DType cache : {DType::kBF16, DType::kE4M3, DType::kE5M2}) {
    EXPECT_EQ(refusal(bf16_from(cache)), "");
  }
}

TEST(KeyValueHeads, are_refused_with_the_reason) {
  Problem problem = bf16_from(DType::kF16);
  EXPECT_THAT(refusal(problem), HasSubstr("KV cache"));
  problem.dtype = problem.cache.dtype = DType::kF32;
  EXPECT_THAT(refusal(problem), HasSubstr("activations"));
  problem = bf16_from(DType::kBF16);
  problem.layer.dual_chunk = {8, 2};
  EXPECT_EQ(refusal(problem), "");
  problem = bf16_from(DType::kBF16);
  problem.layer.family = Family::kLatent;
  EXPECT_THAT(refusal(problem), HasSubstr("MLA"));
  problem.layer.family = Family::kGatedDeltaNet;
  EXPECT_THAT(refusal(problem), HasSubstr("recurrent layers"));
  problem = bf16_from(DType::kBF16);
  problem.multi_item = true;
  EXPECT_THAT(refusal(problem), HasSubstr("multi-item"));
}

TEST(KeyValueHeads, are_refused_where_no_kernel_has_their_dims) {
  EXPECT_THAT(supports_key_value_heads(bf16_from(DType::kBF16), kKernelFeatures, false).reason(),
              HasSubstr("head dims"));
}

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
