// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "lib/scenario/testing/small_cases.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Two rows of a healthy truth on normal data.
std::vector<FillTruth> healthy_truth() {
  ReferenceRow row;
  row.out = {0.5, -0.25};
  row.visible = 9;
  row.p_max = 0.3;
  return {{Fill::kNormal, {row, row}}};
}

ErrorMetrics healthy_error() {
  ErrorMetrics error;
  error.rows = 2;
  error.bound_ratio = 0.3;
  error.lse_bound_ratio = 0.1;
  error.rms_ratio = 1.4;
  error.nmse = 1e-6;
  error.fill = "normal";
  error.worst.request = 1;
  return error;
}

void expect_verdict(const ErrorMetrics& error, Verdict verdict, const std::string& reason,
                    const std::vector<FillTruth>& truth = healthy_truth()) {
  const Verification result = judge(small_plain_decode(), error, truth);
  EXPECT_EQ(result.verdict, verdict) << result.reason;
  EXPECT_NE(result.reason.find(reason), std::string::npos) << result.reason;
}

TEST(Judge, passes_small_errors_without_a_word) {
  const Verification result = judge(small_plain_decode(), healthy_error(), healthy_truth());
  EXPECT_EQ(result.verdict, Verdict::kPassed);
  EXPECT_EQ(result.reason, "");
}

TEST(Judge, says_not_verified_without_a_truth) {
  expect_verdict(healthy_error(), Verdict::kNotVerified, "", {});
}

TEST(Judge, names_non_finite_elements_first) {
  ErrorMetrics error = healthy_error();
  error.non_finite = 1;
  error.bound_ratio = std::numeric_limits<double>::infinity();
  error.worst.head = 3;
  expect_verdict(error, Verdict::kIncorrect, "1 non-finite element, first on fill normal");
  expect_verdict(error, Verdict::kIncorrect, "request 1, head 3");
}

TEST(Judge, fails_a_broken_bound_and_says_how_often) {
  ErrorMetrics error = healthy_error();
  error.bound_ratio = 12;
  error.worst.dim = 5;
  expect_verdict(error, Verdict::kIncorrect, "bound exceeded 12x on fill normal");
  error = healthy_error();
  error.lse_bound_ratio = 7;
  expect_verdict(error, Verdict::kIncorrect, "LSE bound exceeded 7x");
}

TEST(Judge, says_which_keys_the_worst_row_sees) {
  Case c = small_plain_decode();
  c.mode = ForwardMode::kExtend;
  c.requests = {{.q_len = 4, .kv_len = 20}};
  ErrorMetrics error = healthy_error();
  error.bound_ratio = 12;
  error.worst.request = error.worst.dim = 0;
  error.worst.token = 0;  // at position 16
  const auto seen = [&] {
    const std::string reason = judge(c, error, healthy_truth()).reason;
    return reason.substr(reason.find("it sees"));
  };
  EXPECT_EQ(seen(), "it sees keys 0 to 16 of 20");
  c.layer.sliding_window_size = 2;
  EXPECT_EQ(seen(), "it sees keys 14 to 16 of 20");
  c.layer.causal = false;
  EXPECT_EQ(seen(), "it sees keys 14 to 18 of 20");
  c.layer.is_cross_attention = true;
  EXPECT_EQ(seen(), "it sees keys 0 to 19 of 20");
}

TEST(Judge, prints_what_was_got_and_wanted_so_that_they_differ) {
  ErrorMetrics error = healthy_error();
  error.lse_bound_ratio = 2;
  error.worst.dim = -1;
  error.worst.got = 11.6123;
  error.worst.want = 11.6121;
  expect_verdict(error, Verdict::kIncorrect, "LSE: got 11.6123, want 11.6121");
}

TEST(Judge, fails_metrics_that_are_nan) {
  for (double ErrorMetrics::*metric : {&ErrorMetrics::bound_ratio, &ErrorMetrics::lse_bound_ratio,
                                       &ErrorMetrics::rms_ratio, &ErrorMetrics::nmse}) {
    ErrorMetrics error = healthy_error();
    error.*metric = kNaN;
    error.worst.dim = metric == &ErrorMetrics::bound_ratio ? 0 : -1;
    expect_verdict(error, Verdict::kIncorrect, "nan");
  }
}

TEST(Judge, mistrusts_noise_above_three_and_fails_it_above_five) {
  ErrorMetrics error = healthy_error();
  error.rms_ratio = 2.9;
  expect_verdict(error, Verdict::kPassed, "");
  error.rms_ratio = 3.5;
  expect_verdict(error, Verdict::kMistrusted, "3.5x the rounding noise");
  error.rms_ratio = 5.5;
  expect_verdict(error, Verdict::kIncorrect, "5.5x the rounding noise");
}

TEST(Judge, fails_an_error_that_is_a_part_of_the_output_itself) {
  ErrorMetrics error = healthy_error();
  error.nmse = 0.06;
  expect_verdict(error, Verdict::kIncorrect, "0.06 of the output's own power");
}

TEST(Judge, mistrusts_agreement_of_no_rows) {
  ErrorMetrics error = healthy_error();
  error.rows = 0;
  expect_verdict(error, Verdict::kMistrusted, "no row was compared");
}

TEST(Judge, mistrusts_outputs_that_are_mostly_zeros) {
  ErrorMetrics error = healthy_error();
  error.zero_share = 0.4;
  expect_verdict(error, Verdict::kMistrusted, "40 % of the outputs on random data are zeros");
}

TEST(Judge, mistrusts_rows_of_one_key_on_random_data_only) {
  std::vector<FillTruth> truth = healthy_truth();
  for (ReferenceRow& row : truth[0].rows) row.visible = 1;
  expect_verdict(healthy_error(), Verdict::kMistrusted, "at most one key", truth);
  truth[0].fill = Fill::kNeedle;
  expect_verdict(healthy_error(), Verdict::kPassed, "", truth);
}

TEST(Judge, mistrusts_rows_without_keys_on_random_data) {
  std::vector<FillTruth> truth = healthy_truth();
  for (ReferenceRow& row : truth[0].rows) row.visible = 0;
  expect_verdict(healthy_error(), Verdict::kMistrusted, "no row sees a key", truth);
  truth[0].rows.front().visible = 1;
  expect_verdict(healthy_error(), Verdict::kMistrusted, "at most one key", truth);
}

TEST(Judge, mistrusts_rows_that_one_key_dominates) {
  std::vector<FillTruth> truth = healthy_truth();
  for (ReferenceRow& row : truth[0].rows) row.p_max = 0.999;
  expect_verdict(healthy_error(), Verdict::kMistrusted, "100 % of the rows", truth);
}

}  // namespace
}  // namespace attnbench
