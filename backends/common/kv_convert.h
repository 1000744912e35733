// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/common/simd.h"
#include "lib/base/dtype.h"

#if defined(__AVX2__) || defined(__F16C__)
#include <immintrin.h>
#endif

namespace attnbench {

/// Loads eight neighbouring stored elements and widens them in registers. One per storage type, so
/// that kernels are compiled for each.
template <DType dtype>
struct Widen;

template <>
struct Widen<DType::kF32> {
  [[nodiscard]] static ATTNBENCH_INLINE simd::f32x8 load8(const std::byte* p) {
    simd::f32x8 v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
};

template <>
struct Widen<DType::kBF16> {
  [[nodiscard]] static ATTNBENCH_INLINE simd::f32x8 load8(const std::byte* p) {
#ifdef __AVX2__
    __m128i bits;
    std::memcpy(&bits, p, sizeof bits);
    return std::bit_cast<simd::f32x8>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
#else
    using u16x8 = std::uint16_t __attribute__((vector_size(16)));
    u16x8 bits;
    std::memcpy(&bits, p, sizeof bits);
    return std::bit_cast<simd::f32x8>(__builtin_convertvector(bits, simd::u32x8) << 16);
#endif
  }
};

#ifdef __F16C__

template <>
struct Widen<DType::kF16> {
  [[nodiscard]] static ATTNBENCH_INLINE simd::f32x8 load8(const std::byte* p) {
    __m128i bits;
    std::memcpy(&bits, p, sizeof bits);
    return std::bit_cast<simd::f32x8>(_mm256_cvtph_ps(bits));
  }
};

/// e5m2 is the upper byte of an f16.
template <>
struct Widen<DType::kE5M2> {
  [[nodiscard]] static ATTNBENCH_INLINE simd::f32x8 load8(const std::byte* p) {
    __m128i bits = _mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(p));
    bits = _mm_unpacklo_epi8(_mm_setzero_si128(), bits);
    return std::bit_cast<simd::f32x8>(_mm256_cvtph_ps(bits));
  }
};

/// e4m3's exponent and mantissa, moved to the place where f16 keeps them, mean 2^-8 of their value
/// (biases 7 and 15): f16 represents all of them, subnormals included. S.1111.111 is NaN.
template <>
struct Widen<DType::kE4M3> {
  [[nodiscard]] static ATTNBENCH_INLINE simd::f32x8 load8(const std::byte* p) {
    const __m128i bits = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(p)));
    const __m128i sign = _mm_slli_epi16(_mm_and_si128(bits, _mm_set1_epi16(0x80)), 8);
    const __m128i magnitude = _mm_slli_epi16(_mm_and_si128(bits, _mm_set1_epi16(0x7f)), 7);
    const __m128i nan =
        _mm_and_si128(_mm_cmpeq_epi16(magnitude, _mm_set1_epi16(0x3f80)), _mm_set1_epi16(0x7c00));
    const __m128i half = _mm_or_si128(_mm_or_si128(sign, magnitude), nan);
    return std::bit_cast<simd::f32x8>(_mm256_cvtph_ps(half)) * 256.0f;
  }
};

#else  // any other processor: element by element

template <DType dtype>
struct WidenEach {
  [[nodiscard]] static simd::f32x8 load8(const std::byte* p) {
    simd::f32x8 v;
    for (int i = 0; i < 8; ++i) v[i] = load(dtype, p + i * size_bytes(dtype));
    return v;
  }
};
template <>
struct Widen<DType::kF16> : WidenEach<DType::kF16> {};
template <>
struct Widen<DType::kE4M3> : WidenEach<DType::kE4M3> {};
template <>
struct Widen<DType::kE5M2> : WidenEach<DType::kE5M2> {};

#endif

template <DType dtype>
inline void widen_row(const std::byte* from, float* to, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + simd::kLanes <= n; i += simd::kLanes) {
    simd::store8(to + i, Widen<dtype>::load8(from + i * size_bytes(dtype)));
  }
  for (; i < n; ++i) to[i] = load(dtype, from + i * size_bytes(dtype));
}

/// n stored elements as floats.
inline void widen_row(DType dtype, const std::byte* from, float* to, std::int64_t n) {
  switch (dtype) {
    case DType::kF32:
      return widen_row<DType::kF32>(from, to, n);
    case DType::kF16:
      return widen_row<DType::kF16>(from, to, n);
    case DType::kBF16:
      return widen_row<DType::kBF16>(from, to, n);
    case DType::kE4M3:
      return widen_row<DType::kE4M3>(from, to, n);
    case DType::kE5M2:
      return widen_row<DType::kE5M2>(from, to, n);
  }
}

}  // namespace attnbench
