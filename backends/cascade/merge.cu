// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cascade/merge.h"

#include "backends/splitkv/store.cuh"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

constexpr int kWarps = 4;

/// One warp a row; a lane has every 32nd column.
template <class T>
__global__ void merge_kernel(const __grid_constant__ CascadeMerge p) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const std::int64_t row = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / 32;
  if (blockIdx.x == 0 && threadIdx.x == 0) *p.counter = 0;
  if (row >= p.tokens * p.heads_q) return;
  const std::int64_t token = row / p.heads_q, head = row % p.heads_q;
  const CascadeRow parts = p.rows[row];

  splitkv::LseMerge merge;
  if (p.sinks != nullptr) merge.add(p.sinks[head] * cuda::kLog2e);
  const auto each = [&](auto&& visit) {
    for (const PartialRows& part : {parts.prefix, parts.suffix}) {
      for (int i = 0; i < part.count; ++i) visit(part.first + std::int64_t{i} * part.step);
    }
  };
  each([&](std::int64_t at) { merge.add(p.partial_lse[at]); });

  float out[8] = {};
  const int columns = p.head_dim_v / 32;
  each([&](std::int64_t at) {
    const float weight = merge.weight(p.partial_lse[at]);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (i < columns) out[i] += weight * p.partial_out[at * p.head_dim_v + 32 * i + lane];
    }
  });
  auto* const to =
      reinterpret_cast<T*>(p.out + token * p.out_token_stride + head * p.out_head_stride);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (i < columns) to[32 * i + lane] = cuda::narrow_to<T>(out[i] * p.v_scale);
  }
  if (lane == 0) {
    *reinterpret_cast<float*>(p.lse + token * p.lse_token_stride + head * p.lse_head_stride) =
        merge.lse() * cuda::kLn2;
  }
}

}  // namespace

void launch_cascade_merge(const CascadeMerge& merge, void* stream) {
  const std::int64_t rows = merge.tokens * merge.heads_q;
  const auto blocks = static_cast<unsigned>((rows + kWarps - 1) / kWarps);
  const auto launch = [&](auto* kernel) {
    kernel<<<blocks, 32 * kWarps, 0, static_cast<cudaStream_t>(stream)>>>(merge);
  };
  if (merge.dtype == DType::kF16) {
    launch(merge_kernel<__half>);
  } else {
    launch(merge_kernel<__nv_bfloat16>);
  }
  check_launch("cascade merge");
}

}  // namespace attnbench
