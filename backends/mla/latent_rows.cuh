// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/common/cuda/kv_convert.cuh"

// How latent rows lie in the cache, for kernels that multiply 16-bit ones.
namespace attnbench::mla {

/// In place of the type of a cache whose rows mix types: 512 e4m3, an f32 scale for each 128 of
/// them, 64 bf16 (KvScales::kBlock, DeepSeek's 656 bytes).
struct ScaledBlocks {};

inline constexpr int kLatentDims = 512;
inline constexpr int kRopeDims = 64;
inline constexpr int kScaledDims = 128;

template <class Kv>
inline constexpr int kLatentRowBytes = (kLatentDims + kRopeDims) * static_cast<int>(sizeof(Kv));
template <>
inline constexpr int kLatentRowBytes<ScaledBlocks> =
    kLatentDims + kLatentDims / kScaledDims * 4 + 2 * kRopeDims;

/// Eight numbers of fp8 as T, times `scale` where rows have scales: with one of up to four
/// significant bits exactly, otherwise rounded, as in FlashMLA's kernels.
template <class T, class Kv>
__device__ __forceinline__ uint4 widen_eight(uint2 bits, float scale) {
  const auto two = [&](std::uint32_t pair) {
    if constexpr (std::is_same_v<Kv, ScaledBlocks>) {
      const float2 wide = cuda::unpack2<__half>(cuda::fp8x2_to_f16x2<__nv_fp8_e4m3>(pair));
      return cuda::pack2<T>(wide.x * scale, wide.y * scale);
    } else {
      return cuda::widen_fp8x2<T, Kv>(pair);
    }
  };
  return {two(bits.x & 0xffffu), two(bits.x >> 16), two(bits.y & 0xffffu), two(bits.y >> 16)};
}

}  // namespace attnbench::mla
