// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lib/scenario/testing/small_cases.h"
#include "lib/selftest/mutant_backend.h"
#include "lib/verify/verify.h"
#include "reference/oracle.h"

namespace attnbench {
namespace {

/// Qwen3-Next's head dims, as many tokens as a chunked kernel takes at a time.
Case full_size_heads(DType dtype) {
  Case c = small_delta_nets().front();
  c.layer.heads_q = 1;
  c.layer.heads_kv = 2;
  c.layer.head_dim_qk = c.layer.head_dim_v = 128;
  c.layer.scale = 1 / std::sqrt(128.0);
  c.dtype = dtype;
  c.mode = ForwardMode::kExtend;
  c.requests.resize(1);
  c.requests[0] = {.q_len = 64, .kv_len = 200};
  return c;
}

/// Verdict on an honest run, one output of which was then moved by so many times the rounding of
/// its type: the one of median size in the last token.
double bound_ratio_of(DType dtype, double roundings) {
  const Case c = full_size_heads(dtype);
  const auto device = make_cpu_device();
  Fixture fixture(c, *device);
  fixture.fill(Fill::kNormal);
  MutantBackend honest(Fault::kNone);
  PlanMemory memory(*device);
  const auto stream = device->make_stream();
  honest.plan(fixture.batch(), memory)->run(*stream);

  const RowId last{0, 63, 1};
  FillTruth truth{Fill::kNormal,
                  reference::evaluate_rows(c, Contents(c, Fill::kNormal), {&last, 1})};
  std::vector<std::pair<double, std::int64_t>> sizes;
  for (std::size_t d = 0; d < truth.rows[0].out.size(); ++d) {
    sizes.emplace_back(std::fabs(truth.rows[0].out[d]), static_cast<std::int64_t>(d));
  }
  std::ranges::sort(sizes);
  const std::int64_t dim = sizes[sizes.size() / 2].second;
  std::byte* const element = fixture.tensors().out.row(63, 1) + dim * size_bytes(dtype);
  const double exact = truth.rows[0].out[static_cast<std::size_t>(dim)];
  if (roundings > 0) {
    store(dtype, element, static_cast<float>(exact * (1 + roundings * unit_roundoff(dtype))));
  }
  ErrorMetrics error;
  accumulate_error(c, take_outputs(fixture, {&last, 1}), truth, {}, error);
  return error.bound_ratio;
}

TEST(DeltaNetError, of_four_roundings_of_a_16_bit_output_is_beyond_the_bound) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    EXPECT_LE(bound_ratio_of(dtype, 0), 1) << to_string(dtype);
    EXPECT_GT(bound_ratio_of(dtype, 4), 1) << to_string(dtype);
  }
}

/// f32 outputs have no rounding to hide behind: there the noise of all rows together is as sharp.
TEST(DeltaNetError, of_a_state_kept_in_bf16_is_far_beyond_the_noise_of_f32) {
  const Case c = full_size_heads(DType::kF32);
  const auto device = make_cpu_device();
  VerifyConfig config;
  config.fills = {Fill::kNormal};
  const std::vector<FillTruth> truth = compute_truth(c, config);
  for (const auto& [fault, verdict] : {std::pair{Fault::kNone, Verdict::kPassed},
                                       {Fault::kDeltaNetStateInBf16, Verdict::kIncorrect}}) {
    MutantBackend backend(fault);
    Fixture fixture(c, *device);
    const Verification result = verify_backend(c, backend, fixture, *device, truth);
    EXPECT_EQ(result.verdict, verdict) << result.reason;
    EXPECT_GT(result.error.rms_ratio, 0.1);
  }
}

/// What is said of a mutant on normal numbers.
Verification verification_of(Fault fault, const Case& c) {
  const auto device = make_cpu_device();
  VerifyConfig config;
  config.fills = {Fill::kNormal};
  MutantBackend backend(fault);
  Fixture fixture(c, *device);
  return verify_backend(c, backend, fixture, *device, compute_truth(c, config));
}

TEST(DeltaNetError, names_the_row_of_a_state_that_is_wrong) {
  const Verification result =
      verification_of(Fault::kDeltaNetStateNotWritten, small_delta_nets().back());
  EXPECT_EQ(result.verdict, Verdict::kIncorrect);
  EXPECT_NE(result.reason.find("state row"), std::string::npos) << result.reason;
  EXPECT_EQ(result.reason.find("behind query"), std::string::npos) << result.reason;
}

TEST(DeltaNetError, names_the_draft_token_behind_which_a_state_is_wrong) {
  const Verification result =
      verification_of(Fault::kDeltaNetStateBeforeDraft, small_delta_net_drafts().front());
  EXPECT_EQ(result.verdict, Verdict::kIncorrect);
  EXPECT_NE(result.reason.find(" behind query "), std::string::npos) << result.reason;
}

TEST(DeltaNetError, of_a_draft_that_commits_is_a_changed_input) {
  const Verification result =
      verification_of(Fault::kDeltaNetVerifyCommits, small_delta_net_drafts().front());
  EXPECT_EQ(result.verdict, Verdict::kIncorrect);
  EXPECT_NE(result.reason.find("input 'committed states' was modified"), std::string::npos)
      << result.reason;
}

}  // namespace
}  // namespace attnbench
