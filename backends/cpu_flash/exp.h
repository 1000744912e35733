// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/simd.h"

namespace attnbench {

/// e^x of eight lanes for x <= 88, error below 2 ulp; results that would be subnormal (x < -87.33)
/// are 0, so that a masked logit of -inf weighs exactly nothing. NaN stays NaN.
/// Range reduction and polynomial of Cephes' expf (Moshier 1992).
[[nodiscard]] ATTNBENCH_INLINE simd::f32x8 exp8(simd::f32x8 x) {
  using simd::f32x8;
  constexpr float kRounding =
      12582912.0f;  // 1.5 * 2^23: adding it leaves the integer in the mantissa
  const f32x8 shifted = x * 1.44269504088896341f + kRounding;
  const f32x8 n = shifted - kRounding;
  const f32x8 r = x - n * 0.693359375f - n * -2.12194440e-4f;
  f32x8 poly = r * 1.9875691500e-4f + 1.3981999507e-3f;
  poly = poly * r + 8.3334519073e-3f;
  poly = poly * r + 4.1665795894e-2f;
  poly = poly * r + 1.6666665459e-1f;
  poly = poly * r + 5.0000001201e-1f;
  const f32x8 mantissa = poly * (r * r) + r + 1.0f;
  // 2^n: the integer's low bits, biased, moved to the exponent; unsigned, because garbage lanes
  // wrap.
  const simd::u32x8 exponent = (std::bit_cast<simd::u32x8>(shifted) + 127u) << 23;
  const f32x8 result = mantissa * std::bit_cast<f32x8>(exponent);
  return simd::select(x < -87.3365f, f32x8{}, result);
}

/// 2^x of eight lanes for x <= 127, error below 2 ulp; results that would be subnormal (x < -126)
/// are 0, so that a masked logit of -inf weighs exactly nothing. NaN stays NaN. Polynomial of
/// Cephes' exp2f (Moshier 1992): no range to reduce but the integer part, which is exact.
[[nodiscard]] ATTNBENCH_INLINE simd::f32x8 exp2_8(simd::f32x8 x) {
  using simd::f32x8;
  // 1.5 * 2^23 leaves the integer in the low bits of the mantissa, 127 is the bias of an exponent.
  constexpr float kRounding = 12582912.0f + 127.0f;
  const f32x8 shifted = x + kRounding;
  const f32x8 f = x - (shifted - kRounding);
  f32x8 poly = f * 1.535336188319500e-4f + 1.339887440266574e-3f;
  poly = poly * f + 9.618437357674640e-3f;
  poly = poly * f + 5.550332471162809e-2f;
  poly = poly * f + 2.402264791363012e-1f;
  poly = poly * f + 6.931472028550421e-1f;
  const f32x8 mantissa = poly * f + 1.0f;
  const f32x8 power = std::bit_cast<f32x8>(std::bit_cast<simd::u32x8>(shifted) << 23);
  return simd::select(x < -126.0f, f32x8{}, mantissa * power);
}

/// tanh of eight lanes, error of a few ulp. Cephes' tanhf: a polynomial where 1 - 2 / (e^2x + 1)
/// would cancel.
[[nodiscard]] ATTNBENCH_INLINE simd::f32x8 tanh8(simd::f32x8 x) {
  using simd::f32x8;
  const f32x8 magnitude = x < 0.0f ? -x : x;
  const f32x8 z = x * x;
  f32x8 poly = z * -5.70498872745e-3f + 2.06390887954e-2f;
  poly = poly * z - 5.37397155531e-2f;
  poly = poly * z + 1.33314422036e-1f;
  poly = poly * z - 3.33332819422e-1f;
  const f32x8 near_zero = poly * z * x + x;
  const f32x8 bounded = magnitude > 10.0f ? simd::splat(10.0f) : magnitude;  // tanh(10) rounds to 1
  const f32x8 positive = 1.0f - 2.0f / (exp8(bounded + bounded) + 1.0f);
  const f32x8 far = x < 0.0f ? -positive : positive;
  return simd::select(magnitude < 0.625f, near_zero, far);
}

}  // namespace attnbench
