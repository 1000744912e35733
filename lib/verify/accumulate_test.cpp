// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lib/base/error.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

/// The plain f32 case with outputs that are the truth itself, rounded to f32.
class AccumulateError : public testing::Test {
 protected:
  AccumulateError() {
    VerifyConfig config;
    config.fills = {Fill::kNormal};
    truth_ = compute_truth(case_, config);
    for (const ReferenceRow& row : truth_[0].rows) {  // one query token for each request
      for (std::size_t d = 0; d < row.out.size(); ++d) {
        set(row.id, static_cast<int>(d), static_cast<float>(row.out[d]));
      }
      store(DType::kF32, io_.lse.row(row.id.request, row.id.head), static_cast<float>(row.lse));
    }
  }

  void set(const RowId& id, int dim, float value) {
    store(DType::kF32, io_.out.row(id.request, id.head) + dim * 4, value);
  }
  [[nodiscard]] ErrorMetrics accumulate(const Numerics& numerics = {}) const {
    ErrorMetrics error;
    const FillOutputs outputs = take_outputs(fixture_, wanted_rows(truth_).rows, numerics.lse);
    accumulate_error(case_, outputs, truth_[0], numerics, error);
    return error;
  }

  Case case_ = small_plain_decode();
  std::unique_ptr<Device> device_ = make_cpu_device();
  Fixture fixture_{case_, *device_};
  AttentionTensors io_ = fixture_.tensors();
  std::vector<FillTruth> truth_;
};

TEST_F(AccumulateError, finds_next_to_nothing_in_the_truth_itself) {
  const ErrorMetrics error = accumulate();
  EXPECT_EQ(error.rows, case_.q_tokens() * case_.layer.heads_q);
  EXPECT_EQ(error.non_finite, 0);
  EXPECT_LT(error.bound_ratio, 1);
  EXPECT_LT(error.rms_ratio, 1);
  EXPECT_LT(error.nmse, 1e-12);
}

TEST_F(AccumulateError, locates_the_worst_element) {
  set({3, 0, 2}, 7, static_cast<float>(truth_[0].rows[0].out[0]) + 100);
  const ErrorMetrics error = accumulate();
  EXPECT_GT(error.bound_ratio, 1000);
  EXPECT_GT(error.max_abs, 90);
  EXPECT_EQ(error.worst.request, 3);
  EXPECT_EQ(error.worst.head, 2);
  EXPECT_EQ(error.worst.dim, 7);
  EXPECT_EQ(error.fill, "normal");
}

TEST_F(AccumulateError, lets_no_nan_vanish) {
  set({1, 0, 0}, 0, std::numeric_limits<float>::quiet_NaN());
  const ErrorMetrics error = accumulate();
  EXPECT_EQ(error.non_finite, 1);
  EXPECT_FALSE(error.bound_ratio <= 1);
  EXPECT_FALSE(error.rms_ratio <= 1);
  EXPECT_FALSE(error.max_abs <= 1);
}

TEST_F(AccumulateError, counts_the_backends_zeros) {
  for (int d = 0; d < case_.layer.head_dim_v; ++d) set({0, 0, 0}, d, 0);
  EXPECT_DOUBLE_EQ(accumulate().zero_share, 1.0 / 15) << "one of 5 x 3 rows";
}

TEST_F(AccumulateError, sees_poison_in_rows_outside_the_sample) {
  truth_[0].rows.resize(1);
  set({4, 0, 1}, 3, std::numeric_limits<float>::quiet_NaN());
  const ErrorMetrics error = accumulate();
  EXPECT_EQ(error.rows, 1);
  EXPECT_EQ(error.non_finite, 1);
  EXPECT_FALSE(error.bound_ratio <= 1);
  EXPECT_EQ(error.worst.request, 4);
}

TEST_F(AccumulateError, measures_noise_on_random_data_alone) {
  const auto noise_on = [&](Fill fill) {
    truth_[0].fill = fill;
    return accumulate().rms_ratio;
  };
  EXPECT_GT(noise_on(Fill::kNormal), 0);
  EXPECT_GT(noise_on(Fill::kTiming), 0);
  EXPECT_EQ(noise_on(Fill::kNeedle), 0);
}

TEST_F(AccumulateError, lets_no_noise_that_is_no_number_vanish) {
  truth_[0].rows[0].b[0] = std::numeric_limits<double>::quiet_NaN();
  set(truth_[0].rows[0].id, 0, static_cast<float>(truth_[0].rows[0].out[0]) + 1e-6f);
  EXPECT_FALSE(accumulate().rms_ratio <= 5);
}

TEST_F(AccumulateError, wants_minus_infinity_where_the_truth_has_it) {
  truth_[0].rows[0].lse = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(accumulate().non_finite, 1);
  const RowId id = truth_[0].rows[0].id;
  store(DType::kF32, io_.lse.row(id.request, id.head), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(accumulate().non_finite, 0);
}

TEST_F(AccumulateError, looks_at_no_lse_of_a_backend_that_writes_none) {
  EXPECT_GE(accumulate().lse_abs, 0);
  truth_[0].rows.resize(1);
  for (const std::int64_t request : {0, 4}) {  // in the sample and beside it
    for (int head = 0; head < case_.layer.heads_q; ++head) {
      store(DType::kF32, io_.lse.row(request, head), std::numeric_limits<float>::quiet_NaN());
    }
  }
  EXPECT_GT(accumulate().non_finite, 0);
  Numerics numerics;
  numerics.lse = false;
  EXPECT_EQ(accumulate(numerics).non_finite, 0);
  EXPECT_LT(accumulate(numerics).bound_ratio, 1);
  EXPECT_EQ(accumulate(numerics).lse_abs, -1);
}

/// What a backend writes for one row, without error.
FillOutputs outputs_of(const Case& c, const ReferenceRow& row) {
  FillOutputs outputs;
  const auto step = static_cast<std::size_t>(size_bytes(c.out_dtype()));
  outputs.rows.resize(row.out.size() * step + sizeof(float));
  for (std::size_t d = 0; d < row.out.size(); ++d) {
    store(c.out_dtype(), &outputs.rows[d * step], static_cast<float>(row.out[d]) / c.out_scale);
  }
  store(DType::kF32, &outputs.rows[row.out.size() * step], static_cast<float>(row.lse));
  outputs.pages = {-1};
  return outputs;
}

ReferenceRow row_of(const Case& c, double out) {
  ReferenceRow row;
  row.visible = 9;
  row.p_max = 0.3;
  row.lse = 2;
  row.out.assign(static_cast<std::size_t>(c.layer.head_dim_v), out);
  row.a = row.b = std::vector<double>(row.out.size(), 1);
  return row;
}

TEST(AccumulateOneRow, reads_outputs_in_fp8_at_their_scale) {
  Case c = small_plain_decode();
  c.fp8.out = DType::kE4M3;
  c.out_scale = 0.5f;
  const ReferenceRow row = row_of(c, 0.75);
  ErrorMetrics error;
  accumulate_error(c, outputs_of(c, row), {Fill::kNormal, {row}}, {}, error);
  EXPECT_EQ(error.max_abs, 0);
}

TEST(AccumulateOneRow, wants_the_largest_number_of_fp8_where_an_output_lies_beyond) {
  for (const auto& [dtype, largest] :
       {std::pair{DType::kE4M3, 448.0}, std::pair{DType::kE5M2, 57344.0}}) {
    Case c = small_plain_decode();
    c.fp8.out = dtype;
    c.out_scale = 0.5f;
    for (const double sign : {-1.0, 1.0}) {
      const ReferenceRow row = row_of(c, sign * largest);  // twice as large as what is kept
      FillOutputs outputs = outputs_of(c, row);
      ErrorMetrics error;
      accumulate_error(c, outputs, {Fill::kNormal, {row}}, {}, error);
      EXPECT_EQ(error.max_abs, 0);
      store(dtype, outputs.rows.data(), static_cast<float>(sign * largest / 2));
      accumulate_error(c, outputs, {Fill::kNormal, {row}}, {}, error);
      EXPECT_GT(error.bound_ratio, 1) << "saturates too early";
      store(dtype, outputs.rows.data(), std::numeric_limits<float>::quiet_NaN());
      accumulate_error(c, outputs, {Fill::kNormal, {row}}, {}, error);
      EXPECT_EQ(error.non_finite, 1);
    }
  }
}

// The relative error of outputs that cancel would be infinite.
TEST(AccumulateOneRow, holds_the_errors_of_outputs_that_cancel_against_their_noise) {
  const Case c = small_plain_decode();
  const ReferenceRow noisy = row_of(c, 1e-8), row = row_of(c, 0);
  ErrorMetrics error;
  accumulate_error(c, outputs_of(c, noisy), {Fill::kNormal, {row}}, {}, error);
  EXPECT_GT(error.max_abs, 0);
  EXPECT_LT(error.nmse, 0.05);
}

TEST_F(AccumulateError, blames_attnbench_for_a_truth_that_is_not_finite) {
  truth_[0].rows[0].out[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(accumulate()), InternalError);
}

}  // namespace
}  // namespace attnbench
