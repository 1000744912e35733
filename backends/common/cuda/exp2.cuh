// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace attnbench::cuda {

inline constexpr float kLog2e = 1.4426950408889634f;
inline constexpr float kLn2 = 0.6931471805599453f;

/// 2^x, good to 2^-22; 0 of -inf.
__device__ __forceinline__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// tanh with an absolute error of a few 2^-24; tanh.approx has 2^-11.
__device__ __forceinline__ float tanh_accurate(float x) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(exp2_approx(2.0f * kLog2e * x) + 1.0f));
  return fmaf(-2.0f, inverse, 1.0f);
}

}  // namespace attnbench::cuda
