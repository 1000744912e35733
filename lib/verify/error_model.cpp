// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/error_model.h"

#include <algorithm>
#include <cmath>

namespace attnbench {
namespace {

constexpr double kF32 = 0x1p-24;
constexpr double kExp = 0x1p-21;
constexpr double kSmallestNormal = 0x1p-126;

/// FlashMLA's tests accept 1e-6 plus 8.01 / 65536 relative; this floor lies between.
constexpr double kLseFloor = 1e-5;

/// Standard deviation of an error uniform in [-u, u] in units of its whole width 2 u.
const double kUniform = 1 / std::sqrt(12.0);

double half_subnormal(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return 0x1p-150;
    case DType::kF16:
      return 0x1p-25;
    case DType::kBF16:
      return 0x1p-134;
    case DType::kE4M3:
      return 0x1p-10;
    case DType::kE5M2:
      return 0x1p-17;
  }
  return 0;
}

/// What tensor cores of sm_90 lose of a sum of fp8 products: they add 32 at a time with about 14
/// bits (DeepSeek-V3's report, arXiv:2412.19437, 3.3.2), so that each addition drops what lies
/// 2^-13 below the largest of its terms.
double lost_in_fp8_sums(double dims) { return std::ceil(dims / 32) * 0x1p-13; }

/// Higham's gamma_n: the relative error of n roundings in a row.
double gamma(double n, double u) { return n * u / (1 - n * u); }

}  // namespace

ErrorModel::ErrorModel(const Case& c, const Numerics& numerics)
    : recurrent_(c.layer.is_recurrent()),
      u_out_(unit_roundoff(c.out_dtype())),
      largest_out_(c.fp8.out ? largest_finite(*c.fp8.out) * static_cast<double>(c.out_scale) : 0),
      half_subnormal_(half_subnormal(c.out_dtype()) * static_cast<double>(c.out_scale)),
      weight_underflow_(kSmallestNormal),
      u_p_(unit_roundoff(numerics.p)),
      p_roundings_(1),
      u_qk_input_(unit_roundoff(numerics.qk_input)),
      qk_roundings_(0),
      u_qk_sum_(size_bytes(numerics.qk_input) == 1 ? lost_in_fp8_sums(c.layer.head_dim_qk) : 0),
      u_acc_(unit_roundoff(numerics.accumulator)),
      splits_(0),
      dims_(c.layer.head_dim_qk),
      tanh_(c.layer.logit_cap * kExp),
      // Scale, log2(e), softcap's quotient, maximum. The temperature adds a place that f32 does not
      // hold, two logarithms of two units in the last place each, their quotient and the product.
      // A scale of queries in fp8 is one more factor.
      logit_roundings_((c.layer.temperature_len > 0 ? 4 + 7 : 4) + (c.fp8.q ? 1 : 0)) {
  // A row with scales of blocks has a part in bf16.
  const double u_kv =
      unit_roundoff(are_of_blocks(c.kv_cache.scales) ? DType::kBF16 : c.kv_cache.dtype);
  // An operand that its type holds exactly is not rounded again.
  if (numerics.qk_input != DType::kF32) {
    qk_roundings_ += u_qk_input_ > unit_roundoff(c.q_dtype()) ? 1 : 0;
    qk_roundings_ += u_qk_input_ > u_kv ? 1 : 0;
  }
  if (numerics.p != DType::kF32) {
    p_roundings_ += u_p_ > u_kv ? 1 : 0;
    weight_underflow_ += half_subnormal(numerics.p);
  }
  if (numerics.partial_out != DType::kF32) {
    splits_ = numerics.partial_roundings * unit_roundoff(numerics.partial_out);
  }
}

ErrorModel::Row ErrorModel::softmax_row(const ReferenceRow& reference) const {
  const double dot = gamma(dims_ + logit_roundings_, kF32) * reference.s;
  const double tanh = tanh_ * reference.temperature;
  const double inputs = qk_roundings_ * u_qk_input_ * reference.s;
  const auto visible = static_cast<double>(reference.visible);
  const double keys = std::min(visible, 1024.0);
  const double accumulate = gamma(keys, std::min(u_acc_, 0.5 / std::max(keys, 1.0)));
  const double logit = dot + inputs + u_qk_sum_ * reference.s + tanh;

  Row row{};
  row.u_out = u_out_;
  row.half_subnormal = half_subnormal_;
  row.per_a = p_roundings_ * u_p_ + 2 * logit + kExp + accumulate + splits_;
  row.underflow = visible * (weight_underflow_ * reference.v_max / reference.denominator +
                             half_subnormal(DType::kF32));
  const double weights = std::sqrt(static_cast<double>(p_roundings_)) * u_p_;
  const double size = std::max(1.0, std::fabs(reference.lse));
  // Independent roundings of d products add as sqrt(d); S is a sum of d magnitudes, so the rounded
  // inputs of one logit, which are independent too, come to S / sqrt(d).
  const double input_noise =
      std::sqrt(qk_roundings_ / std::max(dims_, 1.0)) * u_qk_input_ * reference.s;
  const double largest =
      reference.p_max > 0 ? std::fabs(reference.lse + std::log(reference.p_max)) : 0;
  const double logit_noise =
      std::hypot(kF32 * (reference.s + std::max(1.0, largest)), tanh, input_noise);
  // Within a power of two, each addition of one number to a sum is rounded alike: m equal terms err
  // m times as far as one, and n / m such groups sqrt(n / m) times as far as one group.
  const double alike = std::min(static_cast<double>(reference.repeats), keys);
  const double sum = std::sqrt(keys * std::max(alike, 1.0) / 2) * u_acc_;
  row.noise_per_b = kUniform * std::hypot(std::hypot(weights, 0x1p-22), logit_noise, sum);
  row.noise_per_a = kUniform * splits_;
  row.noise_per_out = kUniform * std::hypot(4 * kF32, sum);
  row.lse_bound = std::max(2 * logit + 4 * 0x1p-23 * size, kLseFloor * size);
  if (u_acc_ > kF32) row.lse_bound += accumulate * size;
  return row;
}

double ErrorModel::bound(const Row& row, double out, double a) {
  return row.u_out * std::fabs(out) + row.per_a * a + row.half_subnormal + row.underflow;
}

double ErrorModel::sigma(const Row& row, double out, double a, double b) {
  // Called for each element: std::hypot would take a sixth of a verification. No square of a
  // rounding underflows, 2^-149 being the smallest.
  const auto square = [](double x) { return x * x; };
  const double shared = square(row.u_out * kUniform) + square(row.noise_per_out);
  return std::sqrt(shared * square(out) + square(row.noise_per_b * b) +
                   square(row.noise_per_a * a) + square(2 * row.half_subnormal * kUniform));
}

ErrorModel::Row ErrorModel::delta_net_row(const ReferenceRow& reference) const {
  constexpr double kSmallestF32 = 0x1p-126;  // a normal number; below it a product may become 0
  Row row{};
  const bool of_state = reference.id.state_row >= 0;
  // The state is stored as it was computed, and the rounding of its last sum is in A already.
  row.u_out = of_state ? 0 : u_out_;
  row.half_subnormal = of_state ? 0 : half_subnormal_;
  // A request without tokens computes nothing, so that nothing underflows.
  const bool computed = reference.a.empty() || reference.a.front() > 0 || !of_state;
  row.underflow = computed ? dims_ * kSmallestF32 : 0;
  row.per_a = u_acc_;
  row.noise_per_b = u_acc_;
  return row;
}

}  // namespace attnbench
