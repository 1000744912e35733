// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/verify.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "lib/scenario/testing/small_cases.h"

namespace attnbench {
namespace {

using testing::StartsWith;

/// Decodes of 300 keys and more, as most backends meet them.
Case decodes(DType dtype = DType::kBF16) {
  Case c = small_plain_decode();
  c.dtype = c.kv_cache.dtype = dtype;
  c.requests.clear();
  for (const std::int64_t kv_len : {300, 1200, 700}) c.requests.push_back({.kv_len = kv_len});
  return c;
}

std::string passing(const Case& c, const Numerics& declared, VerifyConfig config = {}) {
  return passing_null_candidate(c, declared, compute_truth(c, config));
}

TEST(NullCandidates, fail_where_partial_results_are_rounded_as_kernels_round_them) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const Case c = decodes(dtype);
    EXPECT_EQ(passing(c, {.lse = false}), "");
    EXPECT_EQ(passing(c, {.qk_input = dtype, .p = dtype, .lse = false}), "");
    // FlashInfer's XQA kernels, the most that any pack declares.
    EXPECT_EQ(passing(c, {.p = dtype, .partial_out = dtype, .partial_roundings = 3, .lse = false}),
              "");
  }
}

TEST(NullCandidates, fail_where_a_kernel_computes_in_fp8) {
  Case c = decodes();
  c.kv_cache.dtype = DType::kE4M3;
  c.fp8.q = DType::kE4M3;
  const Numerics xqa{
      .qk_input = DType::kE4M3, .p = DType::kE4M3, .partial_out = DType::kBF16, .lse = false};
  EXPECT_EQ(passing(c, xqa), "");
  c.fp8.q.reset();
  EXPECT_EQ(passing(c, xqa), "") << "queries that it rounds";
  c.fp8.out = DType::kE4M3;
  EXPECT_EQ(passing(c, xqa), "") << "outputs in fp8";
}

TEST(NullCandidates, fail_on_long_contexts) {
  Case c = decodes();
  c.layer.heads_q = c.layer.heads_kv = 1;
  c.requests = {{.kv_len = 32768}};
  EXPECT_EQ(passing(c, {.p = DType::kBF16, .lse = false}), "");
  EXPECT_EQ(passing(c, {.p = DType::kE4M3, .lse = false}), "");
  EXPECT_EQ(
      passing(
          c,
          {.p = DType::kBF16, .partial_out = DType::kBF16, .partial_roundings = 3, .lse = false}),
      "");
}

TEST(NullCandidates, fail_under_every_mask_and_cache) {
  for (const Case& c : all_small_cases()) {
    const DType dtype = c.dtype == DType::kF32 ? DType::kBF16 : c.dtype;
    EXPECT_EQ(passing(c, {.qk_input = dtype, .p = dtype, .partial_out = dtype, .lse = false}), "")
        << c.id;
  }
}

TEST(NullCandidates, fail_in_recurrent_layers) {
  for (Case c : small_delta_nets()) {
    EXPECT_EQ(passing(c, {.accumulator = DType::kBF16, .lse = false}), "") << c.id;
    if (c.requests.size() != 1) continue;
    c.requests.front().q_len = c.requests.front().kv_len = 4000;
    EXPECT_EQ(passing(c, {.accumulator = DType::kBF16, .lse = false}), "") << c.id << ", long";
  }
}

TEST(NullCandidates, pass_where_sums_in_fp8_are_declared) {
  EXPECT_EQ(passing(decodes(), {.accumulator = DType::kE4M3}),
            "zeros would pass: sums declared in e4m3 make the bounds as wide as the result");
}

TEST(NullCandidates, pass_where_partial_results_are_rounded_again_and_again) {
  const Numerics declared{.partial_out = DType::kE5M2, .partial_roundings = 8, .lse = false};
  EXPECT_EQ(passing(decodes(), declared),
            "zeros would pass: partial results declared in e5m2, rounded 8 times, make the bounds "
            "as wide as the result");
}

TEST(NullCandidates, pass_where_several_stages_are_loose_together) {
  const Numerics declared{.qk_input = DType::kE5M2,
                          .p = DType::kE5M2,
                          .accumulator = DType::kBF16,
                          .partial_out = DType::kE5M2,
                          .partial_roundings = 8,
                          .lse = false};
  EXPECT_THAT(passing(decodes(), declared), StartsWith("zeros would pass: "));
}

TEST(NullCandidates, are_also_the_mean_of_v_where_weights_hardly_differ) {
  Case c = decodes();
  c.layer.logit_cap = 0.002;  // weights differ by as much as bf16 rounds
  EXPECT_EQ(passing(c, {.p = DType::kBF16, .lse = false}),
            "the mean of V would pass: weights declared in bf16 make the bounds as wide as the "
            "result");
  EXPECT_EQ(passing(c, {.p = DType::kBF16}), "") << "its LSE is another";
}

TEST(NullCandidates, are_left_out_where_they_are_the_case_s_own_answer) {
  Case c = decodes();
  c.layer.sliding_window_size = 0;  // each query sees its own key only
  EXPECT_EQ(passing(c, {.p = DType::kBF16, .lse = false}), "");
  Case flat = decodes();
  flat.layer.logit_cap = 1e-9;  // all keys weigh the same
  EXPECT_EQ(passing(flat, {.p = DType::kBF16, .lse = false}), "");
}

}  // namespace
}  // namespace attnbench
