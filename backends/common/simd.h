// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

// Eight floats at a time through the vector extension of GCC and clang: one AVX register, or two
// SSE or NEON registers where the compiler knows no wider ones.
#pragma GCC diagnostic ignored "-Wpsabi"  // every function here is inlined: no ABI to keep

#define ATTNBENCH_INLINE inline __attribute__((always_inline))

namespace attnbench::simd {

using f32x8 = float __attribute__((vector_size(32)));
using i32x8 = std::int32_t __attribute__((vector_size(32)));
using u32x8 = std::uint32_t __attribute__((vector_size(32)));
using f32x4 = float __attribute__((vector_size(16)));

inline constexpr std::int64_t kLanes = 8;

/// n rounded up to whole vectors.
[[nodiscard]] constexpr std::int64_t padded(std::int64_t n) {
  return (n + kLanes - 1) / kLanes * kLanes;
}

[[nodiscard]] ATTNBENCH_INLINE f32x8 splat(float x) { return f32x8{x, x, x, x, x, x, x, x}; }

[[nodiscard]] ATTNBENCH_INLINE f32x8 load8(const float* p) {
  f32x8 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

ATTNBENCH_INLINE void store8(float* p, f32x8 v) { std::memcpy(p, &v, sizeof v); }

/// Lanes of a where mask is all ones, of b where it is zero.
[[nodiscard]] ATTNBENCH_INLINE f32x8 select(i32x8 mask, f32x8 a, f32x8 b) {
  return std::bit_cast<f32x8>((mask & std::bit_cast<i32x8>(a)) | (~mask & std::bit_cast<i32x8>(b)));
}

[[nodiscard]] ATTNBENCH_INLINE f32x8 max(f32x8 a, f32x8 b) { return a > b ? a : b; }

[[nodiscard]] ATTNBENCH_INLINE f32x8 pairwise_sums(f32x8 a, f32x8 b) {
  return __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) +
         __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
}

/// The sums over the lanes of a, b, c and d.
[[nodiscard]] ATTNBENCH_INLINE f32x4 lane_sums(f32x8 a, f32x8 b, f32x8 c, f32x8 d) {
  const f32x8 halves = pairwise_sums(pairwise_sums(a, b), pairwise_sums(c, d));
  return __builtin_shufflevector(halves, halves, 0, 1, 2, 3) +
         __builtin_shufflevector(halves, halves, 4, 5, 6, 7);
}

}  // namespace attnbench::simd
