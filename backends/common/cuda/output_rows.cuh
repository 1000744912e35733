// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "backends/common/attention_params.h"
#include "backends/common/cuda/exp2.cuh"

// How a finished row finds its place in the result.
namespace attnbench::cuda {

/// Where a row lies in q, out and lse.
struct RowPlace {
  std::int64_t token = 0;
  int head = 0;
};

/// Of row `row` among a request's rows that share a KV head: they are counted token * group + head
/// within the group. `q_begin` is the request's first query token.
__device__ __forceinline__ RowPlace place_of(const OutputParams& p, int q_begin, int kv_head,
                                             int row) {
  return {q_begin + row / p.group, kv_head * p.group + row % p.group};
}

/// A logit in base 2; -inf where there is none.
__device__ __forceinline__ float sink_of(const OutputParams& p, int head) {
  return p.sinks == nullptr ? -INFINITY : p.sinks[head] * kLog2e;
}

/// Of K or V of a request and KV head, beside the scale of the tensor; 1 where there is no other.
__device__ __forceinline__ float shared_scale(const OutputParams& p, const float* scales,
                                              int request, int kv_head) {
  return scales == nullptr ? 1.0f : scales[request * p.request_scales + kv_head];
}
/// What a finished row of V is multiplied with.
__device__ __forceinline__ float out_factor(const OutputParams& p, int request, int kv_head) {
  return p.v_scale * shared_scale(p, p.v_scales, request, kv_head);
}

__device__ __forceinline__ std::byte* out_row(const OutputParams& p, const RowPlace& place) {
  return p.out + place.token * p.out_token_stride + place.head * p.out_head_stride;
}

/// `lse` is in base 2.
__device__ __forceinline__ void store_lse(const OutputParams& p, const RowPlace& place, float lse) {
  *reinterpret_cast<float*>(p.lse + place.token * p.lse_token_stride +
                            place.head * p.lse_head_stride) = lse * kLn2;
}

}  // namespace attnbench::cuda
