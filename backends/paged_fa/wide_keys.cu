// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/wide_keys.h"

#include "backends/common/cuda/compiled_kernel.cuh"
#include "backends/common/cuda/kernel_choice.cuh"
#include "backends/common/cuda/kv_convert.cuh"
#include "backends/common/cuda/output_rows.cuh"

namespace attnbench::paged_fa {
namespace {

constexpr int kWidenThreads = 256;
constexpr int kWidenRun = 16;  // numbers that a thread widens at once: 16 bytes of fp8

template <class T>
__device__ __forceinline__ std::uint32_t scaled(std::uint32_t pair, float scale) {
  const float2 values = cuda::unpack2<T>(pair);
  return cuda::pack2<T>(values.x * scale, values.y * scale);
}

template <class T, class Kv>
__device__ __forceinline__ void widen_run(std::byte* to, const std::byte* from, bool seen,
                                          float scale) {
  uint4 bits = {};
  if (seen) bits = __ldg(reinterpret_cast<const uint4*>(from));
  const std::uint32_t words[] = {bits.x, bits.y, bits.z, bits.w};
  std::uint32_t wide[8];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    wide[2 * i] = cuda::widen_fp8x2<T, Kv>(words[i] & 0xffffu);
    wide[2 * i + 1] = cuda::widen_fp8x2<T, Kv>(words[i] >> 16);
  }
  if (scale != 1) {
#pragma unroll
    for (std::uint32_t& pair : wide) pair = scaled<T>(pair, scale);
  }
  reinterpret_cast<uint4*>(to)[0] = {wide[0], wide[1], wide[2], wide[3]};
  reinterpret_cast<uint4*>(to)[1] = {wide[4], wide[5], wide[6], wide[7]};
}

/// A block for each piece and KV head.
template <class T, class Kv>
__global__ void __launch_bounds__(kWidenThreads)
    widen(const __grid_constant__ WideKeys wide, const __grid_constant__ Params p) {
  const WidePiece piece = wide.pieces[blockIdx.x];
  const std::int64_t head = blockIdx.y;
  const std::int32_t* const pages = p.page_table + piece.sequence * p.page_table_stride;
  const int runs_k = wide.head_dim_k / kWidenRun, runs = runs_k + wide.head_dim_v / kWidenRun;
  const auto kv_head = static_cast<int>(blockIdx.y);
  const float k_scale = cuda::shared_scale(p, p.k_scales, piece.sequence, kv_head);
  const float v_scale = cuda::shared_scale(p, p.v_scales, piece.sequence, kv_head);
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < piece.keys * runs; i += kWidenThreads) {
    const int at = i / runs, run = i % runs, key = piece.first_key + at;
    const bool seen = key >= piece.first_seen;
    const std::int64_t page =
        seen && p.page_table != nullptr
            ? __ldg(pages + (p.page_shift >= 0 ? key >> p.page_shift : key / p.page_size))
            : 0;
    const int rest = p.page_shift >= 0 ? key & (p.page_size - 1) : key % p.page_size;
    const std::int64_t token =
        rest + (p.first_rows == nullptr ? 0 : __ldg(p.first_rows + piece.sequence));
    const std::int64_t row = head * wide.rows + piece.row + at;
    if (run < runs_k) {
      widen_run<T, Kv>(wide.k + 2 * (row * wide.head_dim_k + kWidenRun * run),
                       p.k + page * p.k_page_stride + token * p.k_token_stride +
                           head * p.k_head_stride + kWidenRun * run,
                       seen, k_scale);
    } else {
      widen_run<T, Kv>(wide.v + 2 * (row * wide.head_dim_v + kWidenRun * (run - runs_k)),
                       p.v + page * p.v_page_stride + token * p.v_token_stride +
                           head * p.v_head_stride + kWidenRun * (run - runs_k),
                       seen, v_scale);
    }
  }
}

using WidenKernel = cuda::CompiledKernel<WideKeys, Params>;

}  // namespace

void widen_keys(const WideKeys& keys, const Params& from, void* stream) {
  if (keys.num_pieces == 0) return;
  const auto kernel =
      cuda::for_types(keys.dtype, keys.kv_dtype, [&]<class T, class Kv>() -> WidenKernel {
        if constexpr (sizeof(Kv) == 1) return {widen<T, Kv>, kWidenThreads, 0};
        return {};
      });
  expects(kernel.exists(), "no kernel that widens what supports() accepted");
  const dim3 blocks(static_cast<unsigned>(keys.num_pieces), static_cast<unsigned>(from.heads_kv));
  kernel.launch("paged_fa", blocks, stream, keys, from);
}

}  // namespace attnbench::paged_fa
