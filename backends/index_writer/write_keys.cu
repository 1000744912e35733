// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "backends/index_writer/write_keys.cuh"
#include "lib/base/narrow.h"
#include "lib/batch/indexer_inputs.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench::index_writer {
namespace {

constexpr int kDim = IndexerInputs::kDim;
constexpr int kWarps = kDim / 32;

/// Element `dim` of row `row` of bf16 numbers.
__device__ __forceinline__ __nv_bfloat16& number(std::byte* rows, std::int64_t row, int dim) {
  return reinterpret_cast<__nv_bfloat16*>(rows)[row * kDim + dim];
}
__device__ __forceinline__ __nv_bfloat16 number(const std::byte* rows, std::int64_t row, int dim) {
  return reinterpret_cast<const __nv_bfloat16*>(rows)[row * kDim + dim];
}

/// What the pool that a token closes has in one dim.
__device__ float pooled(const IndexWrite& write, std::int64_t token, int dim) {
  const PoolWrite& pools = write.pools;
  const int keys = static_cast<int>(pools.keys);
  const WaitingKeys waiting = pools.waiting[token];
  const std::int64_t first = token - (keys - 1);
  const auto logit_of = [&](int i) {
    const float gate = i < waiting.count
                           ? float{number(pools.ring, 2 * (waiting.first_row + i) + 1, dim)}
                           : float{number(pools.gates, first + i, dim)};
    return gate + pools.ape[i * kDim + dim];
  };
  float highest = -INFINITY;
  for (int i = 0; i < keys; ++i) highest = fmaxf(highest, logit_of(i));
  float weights = 0, sum = 0;
  for (int i = 0; i < keys; ++i) {
    const float key = i < waiting.count
                          ? float{number(pools.ring, 2 * (waiting.first_row + i), dim)}
                          : float{number(write.k, first + i, dim)};
    const float weight = expf(logit_of(i) - highest);
    weights += weight;
    sum += weight * key;
  }
  return sum / weights;
}

/// index_key_scale() of the block's numbers, one of each thread.
__device__ float scale_of(float x) {
  __shared__ float of_warps[kWarps];
  // Numbers that are not negative are ordered as their bits.
  const unsigned of_warp = __reduce_max_sync(~0u, __float_as_uint(fabsf(x)));
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = __uint_as_float(of_warp);
  __syncthreads();
  float amax = 1e-10f;
  for (const float each : of_warps) amax = fmaxf(amax, each);
  return __uint_as_float((__float_as_uint(__fdiv_rn(amax, 448.0f)) + 0x7fffffu) & 0xff800000u);
}

/// A block for each token, a thread for each dim.
__global__ void __launch_bounds__(kDim)
    write_keys(const __grid_constant__ IndexWrite write, bool in_bf16) {
  const std::int64_t token = blockIdx.x;
  const int dim = static_cast<int>(threadIdx.x);
  const PoolWrite& pools = write.pools;
  const __nv_bfloat16 key = number(write.k, token, dim);
  if (pools.keys > 1) {
    const std::int64_t row = pools.ring_rows[token];
    if (row >= 0) {
      number(pools.ring, 2 * row, dim) = key;
      number(pools.ring, 2 * row + 1, dim) = number(pools.gates, token, dim);
    }
  }
  const std::int64_t slot = write.slots[token];
  if (slot < 0) return;
  if (in_bf16) {
    number(write.cache, slot, dim) = key;
    return;
  }
  const float x = pools.keys > 1 ? pooled(write, token, dim) : float{key};
  const float scale = scale_of(x);
  const std::int64_t rows = write.page_size, row = slot % rows;
  std::byte* const page = write.cache + slot / rows * rows * IndexerInputs::kKeyBytes;
  page[row * kDim + dim] = std::byte{__nv_cvt_float_to_fp8(x / scale, __NV_SATFINITE, __NV_E4M3)};
  if (dim == 0) reinterpret_cast<float*>(page + rows * kDim)[row] = scale;
}

}  // namespace

void enqueue_write(const IndexWrite& write, bool in_bf16, cudaStream_t stream) {
  if (write.tokens == 0) return;
  write_keys<<<static_cast<unsigned>(narrow_i32(write.tokens)), kDim, 0, stream>>>(write, in_bf16);
  check_launch("write_keys");
}

}  // namespace attnbench::index_writer
