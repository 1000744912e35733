// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/error_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lib/scenario/testing/small_cases.h"

namespace attnbench {
namespace {

Case bf16_case() {
  Case c = small_plain_decode();
  c.dtype = c.kv_cache.dtype = DType::kBF16;
  return c;
}

ReferenceRow row_of(double s, std::int64_t visible) {
  ReferenceRow row;
  row.s = s;
  row.visible = visible;
  row.lse = 1;
  return row;
}

double bound_per_a(const Case& c, const Numerics& numerics, const ReferenceRow& row) {
  return ErrorModel(c, numerics).row(row).per_a;
}

TEST(ErrorModel, bounds_the_store_by_the_unit_roundoff_of_the_output_type) {
  const ErrorModel model(bf16_case(), {});
  const ErrorModel::Row row = model.row(row_of(0, 1));
  EXPECT_NEAR(ErrorModel::bound(row, 4, 0), 4 * 0x1p-8, 1e-12) << "bf16 keeps 8 bits";
  EXPECT_DOUBLE_EQ(ErrorModel::bound(row, 4, 0) / ErrorModel::bound(row, 2, 0), 2);
}

TEST(ErrorModel, gives_outputs_in_fp8_half_a_step_of_their_type_at_their_scale) {
  Case c = bf16_case();
  c.fp8.out = DType::kE4M3;
  c.out_scale = 0.5f;
  const ErrorModel model(c, {});
  const ErrorModel::Row row = model.row(row_of(0, 1));
  EXPECT_NEAR(ErrorModel::bound(row, 4, 0), 4 * 0x1p-4 + 0.5 * 0x1p-10, 1e-12)
      << "e4m3 keeps 4 bits";
}

TEST(ErrorModel, counts_queries_in_fp8_by_what_holds_them) {
  Case c = bf16_case();
  Numerics numerics;
  numerics.qk_input = DType::kE4M3;  // as FlashAttention 3 rounds over an fp8 cache
  c.kv_cache.dtype = DType::kE4M3;
  const double rounded_queries = bound_per_a(c, numerics, row_of(1, 10));
  c.fp8.q = DType::kE4M3;
  EXPECT_NEAR(rounded_queries - bound_per_a(c, numerics, row_of(1, 10)), 2 * 0x1p-4, 1e-6)
      << "stored in it, they are exact";
  c.fp8.q = DType::kE5M2;
  numerics.qk_input = DType::kBF16;
  EXPECT_NEAR(bound_per_a(c, numerics, row_of(1, 10)), bound_per_a(c, {}, row_of(1, 10)), 1e-12);
}

TEST(ErrorModel, knows_that_tensor_cores_add_fp8_products_with_few_bits) {
  Case c = bf16_case();
  c.kv_cache.dtype = c.fp8.q.emplace(DType::kE4M3);
  Numerics numerics;
  const double exact = ErrorModel(c, numerics).row(row_of(10, 10)).lse_bound;
  numerics.qk_input = DType::kE4M3;
  const double sums = std::ceil(c.layer.head_dim_qk / 32.0) * 0x1p-13 * 10;
  EXPECT_NEAR(ErrorModel(c, numerics).row(row_of(10, 10)).lse_bound - exact, 2 * sums, 1e-4);
}

TEST(ErrorModel, counts_keys_of_rows_with_scales_inside_as_bf16_that_their_rope_part_is) {
  Case c = bf16_case();
  c.kv_cache.dtype = c.fp8.q.emplace(DType::kE4M3);
  Numerics numerics;
  numerics.qk_input = DType::kE4M3;
  const double held = bound_per_a(c, numerics, row_of(1, 10));
  c.kv_cache.scales = KvScales::kBlock;
  EXPECT_NEAR(bound_per_a(c, numerics, row_of(1, 10)) - held, 2 * 0x1p-4, 1e-6);
  c.kv_cache.scales = KvScales::kGroup;
  EXPECT_NEAR(bound_per_a(c, numerics, row_of(1, 10)) - held, 2 * 0x1p-4, 1e-6);
}

TEST(ErrorModel, bounds_an_lse_by_sums_only_where_they_are_narrower_than_f32) {
  Numerics numerics;
  const ReferenceRow row = row_of(0.001, 1000);
  EXPECT_DOUBLE_EQ(ErrorModel(bf16_case(), numerics).row(row).lse_bound, 1e-5);
  numerics.accumulator = DType::kF16;
  EXPECT_GT(ErrorModel(bf16_case(), numerics).row(row).lse_bound, 0.1);
}

TEST(ErrorModel, adds_the_rounding_of_the_weights_per_a) {
  Numerics numerics;
  const double exact = bound_per_a(bf16_case(), numerics, row_of(1, 100));
  numerics.p = DType::kBF16;
  const double rounded = bound_per_a(bf16_case(), numerics, row_of(1, 100));
  EXPECT_NEAR(rounded - exact, unit_roundoff(DType::kBF16), 1e-6);
}

TEST(ErrorModel, counts_an_operand_only_where_its_type_does_not_hold_it) {
  Case c = bf16_case();
  Numerics numerics;
  const double f32 = bound_per_a(c, numerics, row_of(1, 10));
  numerics.qk_input = DType::kBF16;
  EXPECT_DOUBLE_EQ(bound_per_a(c, numerics, row_of(1, 10)), f32) << "bf16 q and k are exact in it";
  c.kv_cache.dtype = DType::kE4M3;
  EXPECT_DOUBLE_EQ(bound_per_a(c, numerics, row_of(1, 10)), f32) << "fp8 is, too";
  c.kv_cache.dtype = DType::kF32;
  EXPECT_NEAR(bound_per_a(c, numerics, row_of(1, 10)) - f32, 2 * unit_roundoff(DType::kBF16), 1e-6)
      << "an f32 key is not";
}

TEST(ErrorModel, bounds_weights_by_the_type_that_the_case_gives_them) {
  Case c = bf16_case();
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    c.dtype = c.kv_cache.dtype = dtype;
    const double u = unit_roundoff(dtype);
    EXPECT_LT(bound_per_a(c, {.p = dtype}, row_of(4, 100)), 1.2 * u) << to_string(dtype);
    c.kv_cache.dtype = DType::kE4M3;
    c.kv_cache.v_scale = 0.3f;
    EXPECT_LT(bound_per_a(c, {.p = dtype}, row_of(4, 100)), 1.2 * u) << "v_scale joins a sum";
  }
}

// A weight below 2^-126 of the row's largest may be flushed, each key's by itself.
TEST(ErrorModel, lets_the_weight_of_each_key_underflow) {
  Case c = bf16_case();
  c.dtype = c.kv_cache.dtype = DType::kF32;
  ReferenceRow row = row_of(88, 3);
  row.v_max = 2.5;
  const auto floor_of = [&](const Numerics& numerics) {
    const ErrorModel model(c, numerics);
    return ErrorModel::bound(model.row(row), 0, 0);
  };
  EXPECT_NEAR(floor_of({}) / (3 * 2.5 * 0x1p-126), 1, 1e-6);
  row.denominator = 1000;
  EXPECT_NEAR(floor_of({}) / (3 * 2.5 * 0x1p-126 / 1000), 1, 1e-3);
  c.dtype = c.kv_cache.dtype = DType::kF16;
  EXPECT_NEAR(floor_of({}) / 0x1p-25, 1, 1e-6) << "half a step of the output";
  EXPECT_NEAR(floor_of({.p = DType::kF16}) / (0x1p-25 * (1 + 3 * 2.5 / 1000)), 1, 1e-6);
}

// A softcap's tanh is off by a part of the cap, which the temperature then multiplies; S has it
// already.
TEST(ErrorModel, multiplies_the_error_of_a_capped_logit_by_the_temperature) {
  Case c = bf16_case();
  c.layer.logit_cap = 1000;
  const double plain = bound_per_a(c, {}, row_of(0, 1));
  c.layer.temperature_len = 16;
  ReferenceRow warm = row_of(0, 1);
  warm.temperature = 3;
  const double warmed = bound_per_a(c, {}, warm);
  EXPECT_NEAR(warmed - plain, 2 * (3 - 1) * 1000 * 0x1p-21, 1e-6);
  const ErrorModel model(c, {});
  EXPECT_GT(model.row(warm).noise_per_b, 2.5 * model.row(row_of(0, 1)).noise_per_b);
  EXPECT_GT(model.row(warm).lse_bound, 2.5 * model.row(row_of(0, 1)).lse_bound);
}

// So that an error of four times the noise is doubted, the noise of f32 must not hide in a worst
// case.
TEST(ErrorModel, keeps_the_noise_of_f32_near_what_f32_rounds) {
  Case c = bf16_case();
  c.dtype = c.kv_cache.dtype = DType::kF32;
  const ErrorModel model(c, {});
  const ErrorModel::Row row = model.row(row_of(4, 64));
  const double b = 0.25, out = 0.25, a = 1.6;  // of 64 keys alike
  EXPECT_LT(ErrorModel::sigma(row, out, a, b), 4 * 0x1p-24 * b);
}

TEST(ErrorModel, adds_partial_results_once_per_split) {
  Numerics numerics;
  numerics.partial_roundings = 8;
  const double f32 = bound_per_a(bf16_case(), numerics, row_of(1, 10));
  numerics.partial_out = DType::kBF16;
  EXPECT_NEAR(bound_per_a(bf16_case(), numerics, row_of(1, 10)) - f32,
              8 * unit_roundoff(DType::kBF16), 1e-9);
}

TEST(ErrorModel, stops_growing_with_the_length_where_tiles_end) {
  const double at_1024 = bound_per_a(bf16_case(), {}, row_of(1, 1024));
  EXPECT_LT(bound_per_a(bf16_case(), {}, row_of(1, 64)), at_1024);
  EXPECT_DOUBLE_EQ(bound_per_a(bf16_case(), {}, row_of(1, 1 << 20)), at_1024);
}

// 267 terms of three keys: a kernel that adds them one by one rounds each key's 89 terms alike.
TEST(ErrorModel, expects_more_noise_where_a_list_names_keys_many_times) {
  const ErrorModel model(bf16_case(), {});
  ReferenceRow row = row_of(0, 267);
  const double once = model.row(row).noise_per_out;
  row.repeats = 89;
  const double often = model.row(row).noise_per_out;
  EXPECT_GT(often, 5 * once);
  EXPECT_LT(often, std::sqrt(89) * once);
}

TEST(ErrorModel, keeps_the_noise_below_the_bound) {
  for (const DType p : {DType::kF32, DType::kBF16, DType::kE4M3}) {
    Numerics numerics;
    numerics.p = p;
    const ErrorModel model(bf16_case(), numerics);
    const ErrorModel::Row row = model.row(row_of(3, 500));
    EXPECT_LT(ErrorModel::sigma(row, 0.5, 1, 0.2), ErrorModel::bound(row, 0.5, 1)) << to_string(p);
    EXPECT_GT(ErrorModel::sigma(row, 0, 0, 0), 0) << "never a division by zero";
  }
}

TEST(ErrorModel, bounds_the_lse_far_below_the_slip_of_a_base) {
  const ErrorModel model(bf16_case(), {});
  EXPECT_GE(model.row(row_of(5, 100)).lse_bound, 1e-5);
  EXPECT_LT(model.row(row_of(5, 100)).lse_bound, 1e-3);
}

}  // namespace
}  // namespace attnbench
