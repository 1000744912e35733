// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "backends/common/cuda/mma_products.cuh"
#include "backends/mla/few_layout.cuh"

// Words of four numbers in fp8 as halves of operand B.
namespace attnbench::mla::few {

/// Two numbers in the upper bytes of two halves of a word, as f16 times kMovedScale, by moving
/// their bits. Those of e4m3 come out as 2^-8 of their value, subnormals too (exponents have biases
/// 7 and 15), and NaN as 480 of that.
template <class Fp8>
__device__ __forceinline__ std::uint32_t moved_to_f16(std::uint32_t word) {
  if constexpr (std::is_same_v<Fp8, __nv_fp8_e5m2>) return word & 0xff00ff00u;
  return (word >> 1 & 0x3f803f80u) | (word & 0x80008000u);
}
template <class Fp8>
inline constexpr float kMovedScale = std::is_same_v<Fp8, __nv_fp8_e4m3> ? 1.0f / 256 : 1.0f;

/// The even or the odd numbers of four as f16.
template <class Fp8>
__device__ __forceinline__ std::uint32_t converted(std::uint32_t four, bool odd) {
  return cuda::fp8x2_to_f16x2<Fp8>(cuda::every_other_byte(four, odd));
}

/// Of two keys the even or the odd one of two columns, for weights times values. The even ones are
/// moved, unless rows have scales. NaN stays NaN: what is moved here is converted for q.k.
template <class Kv>
__device__ __forceinline__ std::uint32_t value_pair(std::uint32_t pairs, bool odd) {
  using Tile = Layout<Kv>;
  using Fp8 = typename Tile::Fp8;
  if constexpr (Tile::kScaled) {
    return cuda::widen_fp8x2<typename Tile::Product, Fp8>(cuda::every_other_byte(pairs, odd));
  } else {
    return odd ? converted<Fp8>(pairs, true) : moved_to_f16<Fp8>(pairs << 8);
  }
}

}  // namespace attnbench::mla::few
