// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

#include "backends/common/cuda/kv_convert.cuh"
#include "backends/common/cuda/ldmatrix.cuh"
#include "backends/common/cuda/shape.cuh"

// The two products of attention with mma.sync: tiles of 16 query rows against K and V rows that lie
// swizzled in shared memory. A lane holds rows lane / 4 and the one eight below of each tile, and
// of each 8 columns 2 (lane % 4) and the next.
namespace attnbench::cuda {

/// d += a b on the tensor cores: a 16x16 (row-major), b 16x8 (column-major), float accumulators.
/// Of lane l, with row = l / 4 and column pair = l % 4 (PTX ISA, "Matrix fragments for
/// mma.m16n8k16"):
///   a[0] = A[row][2p..], a[1] = A[row + 8][2p..], a[2] = A[row][2p + 8..], a[3] = A[row + 8][2p
///   + 8..] b0 = B[2p..][row], b1 = B[2p + 8..][row] d[0..1] = D[row][2p..], d[2..3] = D[row +
///   8][2p..]
template <class T>
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4],
                                             std::uint32_t b0, std::uint32_t b1);

template <>
__device__ __forceinline__ void mma_m16n8k16<__nv_bfloat16>(float (&d)[4],
                                                            const std::uint32_t (&a)[4],
                                                            std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <>
__device__ __forceinline__ void mma_m16n8k16<__half>(float (&d)[4], const std::uint32_t (&a)[4],
                                                     std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Where chunk `chunk` (16 bytes) of row `row` lies in a row of kChunks: eight rows that ldmatrix
/// reads at once fall into different banks.
template <int kChunks>
__device__ __forceinline__ constexpr int swizzle(int row, int chunk) {
  constexpr int kSpan = kChunks % 8 == 0 ? 8 : kChunks % 4 == 0 ? 4 : 2;
  static_assert(kChunks % 2 == 0);
  return chunk ^ ((row / (8 / kSpan)) & (kSpan - 1));
}

/// Query rows as operand A in registers: one tile of 16. Element order within 16 dimensions follows
/// from what ldmatrix gives of a K row: pairs for 16-bit elements, fours for 8-bit ones.
template <class S>
class RegisterQueries {
 public:
  /// Reads one of the two rows that this lane holds, i = 0, 1; zeros where it is not real, and
  /// behind `dims` of a padded row.
  __device__ __forceinline__ void load(int i, const std::byte* from, bool real, int dims = S::kDk) {
    const int pair = static_cast<int>(threadIdx.x % 4);
#pragma unroll
    for (int step = 0; step < S::kDk / 16; ++step) {
      const int first = 16 * step + (S::kFp8 ? 4 : 2) * pair;
      const auto at = [&](int d) {
        const bool there = real && (!S::kPadded || d < dims);
        return there ? *reinterpret_cast<const std::uint32_t*>(from + 2 * d) : 0u;
      };
      a_[step][i] = at(first);
      a_[step][i + 2] = at(first + (S::kFp8 ? 2 : 8));
    }
  }
  __device__ __forceinline__ void get(int, int step, std::uint32_t (&a)[4]) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) a[i] = a_[step][i];
  }

 private:
  std::uint32_t a_[S::kDk / 16][4];
};

/// Bytes 0 and 2, or 1 and 3, of a word as the low half.
__device__ __forceinline__ std::uint32_t every_other_byte(std::uint32_t word, bool odd) {
  return __byte_perm(word, 0, odd ? 0x4431 : 0x4420);
}

/// s += q.k of kRowTiles tiles of 16 rows and kKeys keys. q.get(tile, step, a) gives 16 dimensions
/// of a tile as operand A.
template <class S, int kRowTiles, int kKeys, class Queries>
__device__ __forceinline__ void multiply_qk(float (&s)[kRowTiles][kKeys / 8][4], const Queries& q,
                                            std::uint32_t k_tile) {
  using T = typename S::T;
  constexpr int kChunks = S::kRowBytesK / 16;
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int c = 0; c < kChunks; c += 2) {
    constexpr int kSteps = S::kFp8 ? 2 : 1;  // of 16 dimensions, in two chunks
    std::uint32_t a[kSteps][kRowTiles][4];
#pragma unroll
    for (int h = 0; h < kSteps; ++h) {
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) q.get(r, c * kSteps / 2 + h, a[h][r]);
    }
#pragma unroll
    for (int keys = 0; keys < kKeys; keys += 16) {
      const int row = keys + lane % 8 + 8 * (lane / 16);
      std::uint32_t b[4];
      ldmatrix_x4(b, k_tile + row * S::kRowBytesK + 16 * swizzle<kChunks>(row, c + lane / 8 % 2));
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        float(&low)[4] = s[r][keys / 8];
        float(&high)[4] = s[r][keys / 8 + 1];
        if constexpr (S::kFp8) {
          const auto widen = [](std::uint32_t two) { return widen_fp8x2<T, typename S::Kv>(two); };
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            mma_m16n8k16<T>(low, a[h][r], widen(b[h]), widen(b[h] >> 16));
            mma_m16n8k16<T>(high, a[h][r], widen(b[h + 2]), widen(b[h + 2] >> 16));
          }
        } else {
          mma_m16n8k16<T>(low, a[0][r], b[0], b[1]);
          mma_m16n8k16<T>(high, a[0][r], b[2], b[3]);
        }
      }
    }
  }
}

/// out += s . v, s rounded to T.
template <class S, int kRowTiles, int kKeys>
__device__ __forceinline__ void multiply_pv(float (&out)[kRowTiles][S::kDv / 8][4],
                                            const float (&s)[kRowTiles][kKeys / 8][4],
                                            std::uint32_t v_tile) {
  using T = typename S::T;
  constexpr int kChunks = S::kRowBytesV / 16;
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int keys = 0; keys < kKeys; keys += 16) {
    std::uint32_t weights[kRowTiles][4];
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r) {
      const float(&low)[4] = s[r][keys / 8];
      const float(&high)[4] = s[r][keys / 8 + 1];
      weights[r][0] = pack2<T>(low[0], low[1]);
      weights[r][1] = pack2<T>(low[2], low[3]);
      weights[r][2] = pack2<T>(high[0], high[1]);
      weights[r][3] = pack2<T>(high[2], high[3]);
    }
    const int row = keys + lane % 16;
#pragma unroll
    for (int c = 0; c < kChunks; c += 2) {
      std::uint32_t b[4];
      ldmatrix_x4_trans(b,
                        v_tile + row * S::kRowBytesV + 16 * swizzle<kChunks>(row, c + lane / 16));
#pragma unroll
      for (int r = 0; r < kRowTiles; ++r) {
        if constexpr (S::kFp8) {
          // A 16-bit column is two dimensions: the even ones make one tile, the odd ones the next.
#pragma unroll
          for (int n = 0; n < 4; ++n) {
            const auto widen = [&](std::uint32_t word) {
              return widen_fp8x2<T, typename S::Kv>(every_other_byte(word, n % 2 == 1));
            };
            mma_m16n8k16<T>(out[r][2 * c + n], weights[r], widen(b[n / 2 * 2]),
                            widen(b[n / 2 * 2 + 1]));
          }
        } else {
          mma_m16n8k16<T>(out[r][c], weights[r], b[0], b[1]);
          mma_m16n8k16<T>(out[r][c + 1], weights[r], b[2], b[3]);
        }
      }
    }
  }
}

}  // namespace attnbench::cuda
