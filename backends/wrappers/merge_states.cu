// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/wrappers/merge_states.h"

#include <algorithm>
#include <cmath>

#include "backends/common/cuda/exp2.cuh"
#include "backends/common/cuda/kv_convert.cuh"
#include "backends/common/cuda/pack_fp8.cuh"
#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

constexpr int kMergeThreads = 256;
constexpr int kMergedAtOnce = 8;  // elements of 16 bits: one load of each state

template <class T>
struct alignas(16) MergedPart {
  T elements[kMergedAtOnce];
};

__device__ __forceinline__ float lse_of(const AttentionState& state, std::int64_t token,
                                        std::int64_t head) {
  return *reinterpret_cast<const float*>(state.lse.row(token, head));
}

/// A thread has eight columns of a row.
template <class T>
__global__ void __launch_bounds__(kMergeThreads)
    merge_states_kernel(const __grid_constant__ StatesToMerge p) {
  const std::int64_t parts = p.to.out.shape[2] / kMergedAtOnce, heads = p.to.out.shape[1];
  const std::int64_t index = std::int64_t{blockIdx.x} * kMergeThreads + threadIdx.x;
  const std::int64_t row = index / parts, part = index % parts;
  const std::int64_t token = row / heads, head = row % heads;
  if (token >= (p.tokens == nullptr ? p.to.out.shape[0] : *p.tokens)) return;

  const float lse_a = lse_of(p.a, token, head), lse_b = lse_of(p.b, token, head);
  const float top = fmaxf(lse_a, lse_b);
  const bool empty = top == -INFINITY;
  const float weight_a = empty ? 0.0f : exp2f((lse_a - top) * cuda::kLog2e);
  const float weight_b = empty ? 0.0f : exp2f((lse_b - top) * cuda::kLog2e);
  const float sum = weight_a + weight_b;
  const float factor = empty ? 0.0f : 1.0f / (sum * p.to.out_scale);
  if (part == 0) {
    *reinterpret_cast<float*>(p.to.lse.row(token, head)) = empty ? top : top + logf(sum);
  }
  const auto part_of = [&](const TensorView& rows) {
    return reinterpret_cast<MergedPart<T>*>(rows.row(token, head)) + part;
  };
  const MergedPart<T> of_a = *part_of(p.a.out), of_b = *part_of(p.b.out);
  float values[kMergedAtOnce];
#pragma unroll
  for (int i = 0; i < kMergedAtOnce; ++i) {
    values[i] = factor * (weight_a * static_cast<float>(of_a.elements[i]) +
                          weight_b * static_cast<float>(of_b.elements[i]));
  }
  if (const DType dtype = p.to.out.dtype; size_bytes(dtype) == 1) {
    reinterpret_cast<uint2*>(p.to.out.row(token, head))[part] = {
        cuda::pack_fp8(dtype, float4{values[0], values[1], values[2], values[3]}),
        cuda::pack_fp8(dtype, float4{values[4], values[5], values[6], values[7]})};
    return;
  }
  MergedPart<T> merged;
#pragma unroll
  for (int i = 0; i < kMergedAtOnce; ++i) merged.elements[i] = cuda::narrow_to<T>(values[i]);
  *part_of(p.to.out) = merged;
}

}  // namespace

void merge_states_on_gpu(const StatesToMerge& states, Stream& stream) {
  const TensorView& out = states.to.out;
  const DType dtype = states.a.out.dtype;
  expects(states.b.out.dtype == dtype && size_bytes(dtype) == 2 &&
              (out.dtype == dtype || size_bytes(out.dtype) == 1) &&
              out.shape[2] % kMergedAtOnce == 0,
          "states of 16 bits alone are merged, eight columns at once");
  const std::int64_t threads = out.size() / kMergedAtOnce;
  if (threads == 0) return;
  const auto blocks = static_cast<unsigned>((threads + kMergeThreads - 1) / kMergeThreads);
  const auto native = static_cast<cudaStream_t>(stream.native());
  if (dtype == DType::kF16) {
    merge_states_kernel<__half><<<blocks, kMergeThreads, 0, native>>>(states);
  } else {
    merge_states_kernel<__nv_bfloat16><<<blocks, kMergeThreads, 0, native>>>(states);
  }
  check_launch("merge_states");
}

}  // namespace attnbench
