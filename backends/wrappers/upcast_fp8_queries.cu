// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "backends/wrappers/upcast_fp8_queries.h"
#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

constexpr int kUpcastThreads = 256;
constexpr int kUpcastRun = 4;  // elements of a thread: a word of fp8

/// Two of them; f16 holds each number of both types.
__device__ float2 two_of_fp8(unsigned bits, __nv_fp8_interpretation_t type) {
  return __half22float2(
      __half2(__nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(bits & 0xffffu), type)));
}

/// Two elements of the activations' type in a word.
__device__ unsigned packed(DType dtype, float2 pair) {
  if (dtype == DType::kF16) {
    const __half2 narrow = __float22half2_rn(pair);
    return reinterpret_cast<const unsigned&>(narrow);
  }
  const __nv_bfloat162 narrow = __float22bfloat162_rn(pair);
  return reinterpret_cast<const unsigned&>(narrow);
}

/// A thread for each run of four elements.
__global__ void __launch_bounds__(kUpcastThreads)
    upcast_fp8_queries(const __grid_constant__ UpcastFp8Queries p, std::int64_t runs) {
  const std::int64_t run = std::int64_t{blockIdx.x} * kUpcastThreads + threadIdx.x;
  if (run >= runs) return;
  const std::int64_t runs_of_row = p.from.shape[2] / kUpcastRun;
  const std::int64_t row = run / runs_of_row, d = run % runs_of_row * kUpcastRun;
  const std::int64_t token = row / p.from.shape[1], head = row % p.from.shape[1];
  const float scale = p.scale(token, static_cast<int>(head));
  const unsigned bits = *reinterpret_cast<const unsigned*>(p.from.row(token, head) + d);
  const auto type = p.from.dtype == DType::kE4M3 ? __NV_E4M3 : __NV_E5M2;
  const float2 low = two_of_fp8(bits, type), high = two_of_fp8(bits >> 16, type);
  *reinterpret_cast<uint2*>(p.to.row(token, head) + 2 * d) =
      uint2{packed(p.to.dtype, {low.x * scale, low.y * scale}),
            packed(p.to.dtype, {high.x * scale, high.y * scale})};
}

}  // namespace

void upcast_fp8_queries_on_gpu(const UpcastFp8Queries& queries, Stream& stream) {
  expects(queries.from.shape[2] % kUpcastRun == 0, "rows of queries are read by the word");
  const std::int64_t runs = queries.from.size() / kUpcastRun;
  if (runs == 0) return;
  upcast_fp8_queries<<<static_cast<unsigned>((runs + kUpcastThreads - 1) / kUpcastThreads),
                       kUpcastThreads, 0, static_cast<cudaStream_t>(stream.native())>>>(queries,
                                                                                        runs);
  check_launch("upcast_fp8_queries");
}

}  // namespace attnbench
