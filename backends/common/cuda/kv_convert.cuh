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

/// Two stored fp8 elements (the low 16 bits of `bits`) as two T in one register. Exact: both T hold
/// every fp8 value; NaN stays NaN.
template <class T, class Fp8>
__device__ __forceinline__ std::uint32_t widen_fp8x2(std::uint32_t bits);

namespace detail {
template <class Fp8>
inline constexpr __nv_fp8_interpretation_t kInterpretation = __NV_E4M3;
template <>
inline constexpr __nv_fp8_interpretation_t kInterpretation<__nv_fp8_e5m2> = __NV_E5M2;
}  // namespace detail

template <class T, class Fp8>
__device__ __forceinline__ std::uint32_t widen_fp8x2(std::uint32_t bits) {
  const __half2_raw halves = __nv_cvt_fp8x2_to_halfraw2(
      static_cast<__nv_fp8x2_storage_t>(bits & 0xffffu), detail::kInterpretation<Fp8>);
  const std::uint32_t pair =
      static_cast<std::uint32_t>(halves.x) | (static_cast<std::uint32_t>(halves.y) << 16);
  if constexpr (sizeof(T) == 2 && std::is_same_v<T, __half>) {
    return pair;
  } else {
    const float2 wide = unpack2<__half>(pair);
    return pack2<T>(wide.x, wide.y);
  }
}

}  // namespace attnbench::cuda
