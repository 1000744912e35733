// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "backends/mla/few_operands.cuh"

namespace attnbench::mla::few {

/// The rows of an item as operand A, in the order in which a lane has the numbers of a latent row.
/// Where those have 16 bits, a lane has 8 in a row of each 32 columns.
///
/// Where they have 8 bits, it has 16 in a row of each 64, and of each four the even ones come
/// before the odd ones. The rows are f16 then: they are multiplied by a power of two that brings
/// their largest number into [2^6, 2^7), and those that meet moved_to_f16() by 1 / kMovedScale
/// more. f16 holds each number that is at least 2^-20 of the largest exactly, and smaller ones to
/// 2^-31 of it. The rope columns of ScaledBlocks, which are bf16, meet queries in bf16.
template <class T, class Kv>
class Queries {
 public:
  /// Zeros for rows that the item lacks.
  __device__ __forceinline__ Queries(const Params& p, const Item& item) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      load(i, p, item);
      if constexpr (!Layout<Kv>::kWide) narrow(i);
    }
  }
  /// 16 columns; which, the caller's words of a latent row decide.
  [[nodiscard]] __device__ __forceinline__ const std::uint32_t (&operand(int step) const)[4] {
    return a_[step];
  }
  /// What products of row i with columns in fp8 are to be multiplied by.
  [[nodiscard]] __device__ __forceinline__ float factor(int i) const { return factor_[i]; }

 private:
  static constexpr int kNarrowed = (Layout<Kv>::kScaled ? kDv : kDk) / 16;

  __device__ __forceinline__ void load(int i, const Params& p, const Item& item) {
    const int row = thread_.row(i);
    const bool real = row < item.rows;
    const int index = item.row_begin + (real ? row : 0);
    const std::byte* const from =
        p.q + static_cast<std::int64_t>(item.q_begin + index / p.group) * p.q_token_stride +
        index % p.group * p.q_head_stride + (Layout<Kv>::kWide ? 16 : 32) * (thread_.lane % 4);
#pragma unroll
    for (int block = 0; block < kDk / 64; ++block) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int at = 128 * block + (Layout<Kv>::kWide ? 64 : 16) * half;
        const uint4 eight = real ? __ldg(reinterpret_cast<const uint4*>(from + at)) : uint4{};
        std::uint32_t(&first)[4] = a_[4 * block + 2 * half];
        std::uint32_t(&second)[4] = a_[4 * block + 2 * half + 1];
        first[i] = eight.x;
        first[i + 2] = eight.y;
        second[i] = eight.z;
        second[i + 2] = eight.w;
      }
    }
  }
  __device__ __forceinline__ void narrow(int i) {
    float largest = 0;
#pragma unroll
    for (int step = 0; step < kNarrowed; ++step) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float2 two = cuda::unpack2<T>(a_[step][i + 2 * half]);
        largest = fmaxf(largest, fmaxf(fabsf(two.x), fabsf(two.y)));
      }
    }
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 1));
    largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, 2));
    const int exponent = (__float_as_int(largest) >> 23) - 127;
    const int raise = min(6 - exponent, 100);  // 2^100 and its inverse are floats
    const float scale = __int_as_float((127 + raise) << 23);
    factor_[i] = __int_as_float((127 - raise) << 23);
#pragma unroll
    for (int step = 0; step < kNarrowed; ++step) {
      const float odd_scale =
          step < kDv / 16 ? scale / kMovedScale<typename Layout<Kv>::Fp8> : scale;
      const float2 low = cuda::unpack2<T>(a_[step][i]), high = cuda::unpack2<T>(a_[step][i + 2]);
      a_[step][i] = cuda::pack2<__half>(low.x * scale, high.x * scale);
      a_[step][i + 2] = cuda::pack2<__half>(low.y * odd_scale, high.y * odd_scale);
    }
  }

  Thread thread_;
  std::uint32_t a_[kDk / 16][4];
  float factor_[2] = {1, 1};
};

}  // namespace attnbench::mla::few
