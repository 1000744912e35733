// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

// Compiled once for each instruction set, as vector-inl.h says.
#if defined(ATTNBENCH_BACKENDS_CPU_FLASH_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNBENCH_BACKENDS_CPU_FLASH_EXP_INL_H_
#undef ATTNBENCH_BACKENDS_CPU_FLASH_EXP_INL_H_
#else
#define ATTNBENCH_BACKENDS_CPU_FLASH_EXP_INL_H_
#endif

#include "backends/common/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnbench::cpu_flash::HWY_NAMESPACE {

using namespace attnbench::HWY_NAMESPACE;  // the vectors of backends/common

/// a * b + c with constant b and c.
[[nodiscard]] HWY_INLINE Floats mul_add(Floats a, float b, float c) {
  return hn::MulAdd(a, splat(b), splat(c));
}
[[nodiscard]] HWY_INLINE Floats mul_add(Floats a, Floats b, float c) {
  return hn::MulAdd(a, b, splat(c));
}

/// e^x for x <= 88, error below 2 ulp; results that would be subnormal (x < -87.33) are 0, so that
/// a masked logit of -inf weighs exactly nothing. NaN stays NaN.
/// Range reduction and polynomial of Cephes' expf (Moshier 1992).
[[nodiscard]] HWY_INLINE Floats exp_floats(Floats x) {
  constexpr float kRounding =
      12582912.0f;  // 1.5 * 2^23: adding it leaves the integer in the mantissa
  const Floats shifted = mul_add(x, 1.44269504088896341f, kRounding);
  const Floats n = shifted - splat(kRounding);
  Floats r = hn::NegMulAdd(n, splat(0.693359375f), x);
  r = hn::NegMulAdd(n, splat(-2.12194440e-4f), r);
  Floats poly = mul_add(r, 1.9875691500e-4f, 1.3981999507e-3f);
  poly = mul_add(poly, r, 8.3334519073e-3f);
  poly = mul_add(poly, r, 4.1665795894e-2f);
  poly = mul_add(poly, r, 1.6666665459e-1f);
  poly = mul_add(poly, r, 5.0000001201e-1f);
  const Floats mantissa = hn::MulAdd(poly, r * r, r) + splat(1.0f);
  // 2^n: the integer's low bits, biased, moved to the exponent.
  const U32 u32;
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(u32, shifted) + hn::Set(u32, 127));
  const Floats result = mantissa * hn::BitCast(F32(), exponent);
  return hn::IfThenZeroElse(hn::Lt(x, splat(-87.3365f)), result);
}

/// 2^x for x <= 127, error below 2 ulp; results that would be subnormal (x < -126) are 0, so that a
/// masked logit of -inf weighs exactly nothing. NaN stays NaN. Polynomial of Cephes' exp2f (Moshier
/// 1992): no range to reduce but the integer part, which is exact.
[[nodiscard]] HWY_INLINE Floats exp2_floats(Floats x) {
  // 1.5 * 2^23 leaves the integer in the low bits of the mantissa, 127 is the bias of an exponent.
  constexpr float kRounding = 12582912.0f + 127.0f;
  const Floats shifted = x + splat(kRounding);
  const Floats f = x - (shifted - splat(kRounding));
  Floats poly = mul_add(f, 1.535336188319500e-4f, 1.339887440266574e-3f);
  poly = mul_add(poly, f, 9.618437357674640e-3f);
  poly = mul_add(poly, f, 5.550332471162809e-2f);
  poly = mul_add(poly, f, 2.402264791363012e-1f);
  poly = mul_add(poly, f, 6.931472028550421e-1f);
  const Floats mantissa = mul_add(poly, f, 1.0f);
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(U32(), shifted));
  const Floats result = mantissa * hn::BitCast(F32(), exponent);
  return hn::IfThenZeroElse(hn::Lt(x, splat(-126.0f)), result);
}

/// tanh, error of a few ulp. Cephes' tanhf: a polynomial where 1 - 2 / (e^2x + 1) would cancel.
[[nodiscard]] HWY_INLINE Floats tanh_floats(Floats x) {
  const Floats magnitude = hn::Abs(x);
  const Floats z = x * x;
  Floats poly = mul_add(z, -5.70498872745e-3f, 2.06390887954e-2f);
  poly = mul_add(poly, z, -5.37397155531e-2f);
  poly = mul_add(poly, z, 1.33314422036e-1f);
  poly = mul_add(poly, z, -3.33332819422e-1f);
  const Floats near_zero = hn::MulAdd(poly * z, x, x);
  // tanh(10) rounds to 1; NaN stays NaN.
  const Floats bounded = hn::IfThenElse(hn::Gt(magnitude, splat(10.0f)), splat(10.0f), magnitude);
  const Floats positive = splat(1.0f) - splat(2.0f) / (exp_floats(bounded + bounded) + splat(1.0f));
  const Floats far = hn::CopySign(positive, x);
  return hn::IfThenElse(hn::Lt(magnitude, splat(0.625f)), near_zero, far);
}

}  // namespace attnbench::cpu_flash::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
