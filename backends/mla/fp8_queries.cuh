// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "backends/mla/fp8_layout.cuh"

namespace attnbench::mla::fp8 {

/// The rows of an item as operand A in f16, in the order in which a lane has the numbers of a
/// latent row: of 64 columns, 16 in a row. Rows in bf16 are multiplied by a power of two that
/// brings their largest number into [2^14, 2^15): f16 then holds each that is at least 2^-29 of
/// that exactly, and smaller ones to 2^-40 of it. Not so the rope columns where those of the
/// latents are in bf16, too.
template <class T, class Kv>
class Queries {
 public:
  /// Zeros for rows that the item lacks.
  __device__ __forceinline__ Queries(const Params& p, const Item& item) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      load(i, p, item);
      if constexpr (!std::is_same_v<T, __half>) narrow(i);
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
        index % p.group * p.q_head_stride + 32 * (thread_.lane % 4);
#pragma unroll
    for (int block = 0; block < kDk / 64; ++block) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const uint4 eight =
            real ? __ldg(reinterpret_cast<const uint4*>(from + 128 * block + 16 * half)) : uint4{};
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
    const int raise = min(14 - exponent, 100);  // 2^100 and its inverse are floats
    const float scale = __int_as_float((127 + raise) << 23);
    factor_[i] = __int_as_float((127 - raise) << 23);
#pragma unroll
    for (int step = 0; step < kNarrowed; ++step) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        std::uint32_t& word = a_[step][i + 2 * half];
        const float2 two = cuda::unpack2<T>(word);
        word = cuda::pack2<__half>(two.x * scale, two.y * scale);
      }
    }
  }

  Thread thread_;
  std::uint32_t a_[kDk / 16][4];
  float factor_[2] = {1, 1};
};

}  // namespace attnbench::mla::fp8
