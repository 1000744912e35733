// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <type_traits>

namespace attnbench::cuda {

template <class To>
__device__ __forceinline__ std::uint32_t bits_of(const To& pair) {
  static_assert(sizeof(To) == sizeof(std::uint32_t));
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

/// Two floats rounded to nearest into one register, `low` in the lower half.
template <class T>
__device__ __forceinline__ std::uint32_t pack2(float low, float high);
template <>
__device__ __forceinline__ std::uint32_t pack2<__nv_bfloat16>(float low, float high) {
  return bits_of(__floats2bfloat162_rn(low, high));
}
template <>
__device__ __forceinline__ std::uint32_t pack2<__half>(float low, float high) {
  return bits_of(__floats2half2_rn(low, high));
}

/// The two halves of a register as floats.
template <class T>
__device__ __forceinline__ float2 unpack2(std::uint32_t bits);
template <>
__device__ __forceinline__ float2 unpack2<__nv_bfloat16>(std::uint32_t bits) {
  return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&bits));
}
template <>
__device__ __forceinline__ float2 unpack2<__half>(std::uint32_t bits) {
  return __half22float2(*reinterpret_cast<const __half2*>(&bits));
}

template <class T>
__device__ __forceinline__ T narrow_to(float value);
template <>
__device__ __forceinline__ __nv_bfloat16 narrow_to<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ __forceinline__ __half narrow_to<__half>(float value) {
  return __float2half_rn(value);
}

/// Two stored fp8 elements (the low 16 bits of `bits`) as f16.
template <class Fp8>
__device__ __forceinline__ std::uint32_t fp8x2_to_f16x2(std::uint32_t bits);
/// e5m2 is the upper byte of an f16.
template <>
__device__ __forceinline__ std::uint32_t fp8x2_to_f16x2<__nv_fp8_e5m2>(std::uint32_t bits) {
  return __byte_perm(bits, 0, 0x1404);
}
template <>
__device__ __forceinline__ std::uint32_t fp8x2_to_f16x2<__nv_fp8_e4m3>(std::uint32_t bits) {
#if __CUDA_ARCH__ >= 890
  std::uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<std::uint16_t>(bits)));
  return halves;
#else
  // e4m3's exponent and mantissa, moved to the place where f16 keeps them, mean 2^-8 of their value
  // (biases 7 and 15): f16 represents all of them, subnormals included. S.1111.111 is NaN.
  const std::uint32_t high = __byte_perm(bits, 0, 0x1404);
  const std::uint32_t magnitude = (high & 0x7f007f00u) >> 1;
  const std::uint32_t nan = __vcmpeq2(magnitude, 0x3f803f80u) & 0x7e007e00u;
  const std::uint32_t scaled = (high & 0x80008000u) | magnitude;
  const __half2 wide = __hmul2(*reinterpret_cast<const __half2*>(&scaled), __float2half2_rn(256));
  return bits_of(wide) | nan;
#endif
}

/// Two stored fp8 elements (the low 16 bits of `bits`) as two T in one register. Exact: both T hold
/// every fp8 value; NaN stays NaN.
template <class T, class Fp8>
__device__ __forceinline__ std::uint32_t widen_fp8x2(std::uint32_t bits) {
  const std::uint32_t halves = fp8x2_to_f16x2<Fp8>(bits);
  if constexpr (std::is_same_v<T, __half>) {
    return halves;
  } else {
    const float2 wide = unpack2<__half>(halves);
    return pack2<T>(wide.x, wide.y);
  }
}

}  // namespace attnbench::cuda
