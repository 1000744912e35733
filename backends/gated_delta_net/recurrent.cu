// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/gated_delta_net/recurrent.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "lib/device/cuda/check.cuh"

namespace attnbench::gated_delta_net {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kWholeWarp = 0xffffffffu;
constexpr int kWarps = 4;  ///< of a block

/// Value dims of a warp: a row of them is one sector of memory, 32 bytes.
constexpr int kColumns = 8;
/// Lanes that share the key dims of a column.
constexpr int kKeyLanes = kWarp / kColumns;
/// Neighbouring key dims of one lane, which it reads from shared memory at once.
constexpr int kRun = 4;

__device__ float widened(float value) { return value; }
__device__ float widened(__half value) { return __half2float(value); }
__device__ float widened(__nv_bfloat16 value) { return __bfloat162float(value); }

__device__ void put(float* to, float value) { *to = value; }
__device__ void put(__half* to, float value) { *to = __float2half_rn(value); }
__device__ void put(__nv_bfloat16* to, float value) { *to = __float2bfloat16_rn(value); }

/// The sum over all lanes whose numbers differ in the bits from `lowest` up.
template <int lowest>
__device__ float sum_over_lanes(float value) {
#pragma unroll
  for (int bit = lowest; bit < kWarp; bit *= 2) value += __shfl_xor_sync(kWholeWarp, value, bit);
  return value;
}

/// What a lane reads of a token before it is needed: its share of q and k, and its column of v.
template <class T, int kShare>
struct TokenParts {
  float q[kShare], k[kShare], v, g, beta;

  __device__ void read(const RecurrentParams& p, std::int64_t token, int head, int column) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    const int key_head = head / p.group_size;
    const auto* const q_row = reinterpret_cast<const T*>(p.io.q.row(token, key_head));
    const auto* const k_row = reinterpret_cast<const T*>(p.io.k_new.row(token, key_head));
#pragma unroll
    for (int i = 0; i < kShare; ++i) {
      const int dim = i * kWarp + lane;
      const bool is_there = dim < p.states.dim_k;
      q[i] = is_there ? widened(q_row[dim]) : 0;
      k[i] = is_there ? widened(k_row[dim]) : 0;
    }
    const auto* const v_row = reinterpret_cast<const T*>(p.io.v_new.row(token, head));
    v = column < p.states.dim_v ? widened(v_row[column]) : 0;
    g = *reinterpret_cast<const float*>(p.io.g.row(token, head));
    beta = *reinterpret_cast<const float*>(p.io.beta.row(token, head));
  }

  /// x / sqrt(sum x^2 + 1e-6) * factor, to where all lanes find it.
  __device__ static void normalise(const float (&x)[kShare], float factor, float* to) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kShare; ++i) sum += x[i] * x[i];
    const float by = factor / sqrtf(sum_over_lanes<1>(sum) + 1e-6f);
#pragma unroll
    for (int i = 0; i < kShare; ++i) {
      to[i * kWarp + static_cast<int>(threadIdx.x) % kWarp] = x[i] * by;
    }
  }
};

/// Calls use(i, x[dim]) for each key dim i of this lane; x is shared by the warp.
template <int kRows, class Use>
__device__ void for_all_runs(const float* x, const Use& use) {
  const int mine = static_cast<int>(threadIdx.x) % kWarp / kColumns;
  const auto* const runs = reinterpret_cast<const float4*>(x) + mine;
#pragma unroll
  for (int run = 0; run < kRows / kRun; ++run) {
    const float4 four = runs[run * kKeyLanes];
    use(run * kRun, four.x);
    use(run * kRun + 1, four.y);
    use(run * kRun + 2, four.z);
    use(run * kRun + 3, four.w);
  }
}

/// Where the states behind a request's tokens go, and where each token finds its own.
enum class Leaves {
  kLast,     ///< the last one where the first was
  kEach,     ///< each to a place of its own: a chain of drafts
  kBranches  ///< the same of a draft tree: a node whose parent is not the one before reads its
             ///< state
};

/// Eight value dims of one value head of one request, which no other warp touches: their part of
/// the state stays in registers from the first token to the last. `kRows` key dims of a lane.
template <class T, int kRows, Leaves kLeaves>
__global__ void __launch_bounds__(kWarp* kWarps) run_recurrent(RecurrentParams p) {
  constexpr int kDims = kRows * kKeyLanes;  // key dims with room
  __shared__ __align__(16) float shared[kWarps][2][kDims];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t blocks = (p.states.dim_v + kColumns - 1) / kColumns;
  const std::int64_t item = std::int64_t{blockIdx.x} * kWarps + warp;
  const std::int64_t request = item / blocks / p.states.heads;
  if (request >= p.requests) return;
  const std::int32_t slot = p.state_indices[request];
  const std::int32_t begin = p.qo_indptr[request], end = p.qo_indptr[request + 1];
  if (slot < 0 || begin == end) return;

  const int head = static_cast<int>(item / blocks % p.states.heads);
  const int column = static_cast<int>(item % blocks) * kColumns + lane % kColumns;
  const bool is_column = column < p.states.dim_v;
  const bool starts_empty = p.has_initial_state[request] == 0;
  // Key dim i of a lane: the lanes of a column take turns, a run of neighbours each.
  const int first_dim = lane / kColumns * kRun;
  const auto dim_of = [&](int i) { return i / kRun * (kRun * kKeyLanes) + first_dim + i % kRun; };

  float* const state = p.states.state(slot, head) + column;
  float s[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int dim = dim_of(i);
    const bool is_there = is_column && dim < p.states.dim_k && !starts_empty;
    s[i] = is_there ? state[dim * p.states.dim_v] : 0;
  }

  // From row to row: an offset for each would not fit beside the state where a loop keeps them.
  const auto keep = [&](float* to) {
    float* row = to + first_dim * p.states.dim_v;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (is_column && dim_of(i) < p.states.dim_k) *row = s[i];
      row += (dim_of(i + 1) - dim_of(i)) * p.states.dim_v;
    }
  };
  // What this very thread has kept there. The compiler must not see that the stride is the same for
  // each token: it would keep an offset for each row, 214 registers in place of 165 (nvcc 13.0, 128
  // key dims).
  const auto take = [&](const float* from) {
    std::int64_t stride = p.states.dim_v;
    asm volatile("" : "+l"(stride));
    const float* row = from + first_dim * stride;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (is_column && dim_of(i) < p.states.dim_k) s[i] = *row;
      row += (dim_of(i + 1) - dim_of(i)) * stride;
    }
  };

  float *const q = shared[warp][0], *const k = shared[warp][1];
  TokenParts<T, kDims / kWarp> next;
  next.read(p, begin, head, column);
#pragma unroll 1
  for (std::int64_t token = begin; token < end; ++token) {
    if constexpr (kLeaves == Leaves::kBranches) {
      const std::int64_t parent = begin + p.retrieve_parent_token[token];
      if (token > begin && parent != token - 1) {
        take(p.intermediate.state(parent, head) + column);
      }
    }
    const auto now = next;
    if (token + 1 < end) next.read(p, token + 1, head, column);
    __syncwarp();  // all have read the token before
    now.normalise(now.q, p.scale, q);
    now.normalise(now.k, 1, k);
    __syncwarp();
    const float decay = expf(now.g);
    float remembered = 0;
    for_all_runs<kRows>(k, [&](int i, float key) {
      s[i] *= decay;
      remembered += key * s[i];
    });
    const float w = now.beta * (now.v - sum_over_lanes<kColumns>(remembered));
    float out = 0;
    for_all_runs<kRows>(k, [&](int i, float key) { s[i] += key * w; });
    for_all_runs<kRows>(q, [&](int i, float query) { out += query * s[i]; });
    out = sum_over_lanes<kColumns>(out);
    if (lane < kColumns && is_column) {
      put(reinterpret_cast<T*>(p.io.out.row(token, head)) + column, out);
    }
    if constexpr (kLeaves != Leaves::kLast) keep(p.intermediate.state(token, head) + column);
  }
  if constexpr (kLeaves == Leaves::kLast) keep(state);
}

template <class T, Leaves kLeaves>
void launch_for(const RecurrentParams& p, cudaStream_t stream) {
  const std::int64_t warps =
      p.requests * p.states.heads * ((p.states.dim_v + kColumns - 1) / kColumns);
  const auto blocks = static_cast<unsigned>((warps + kWarps - 1) / kWarps);
  const auto launch = [&](auto kernel) { kernel<<<blocks, kWarp * kWarps, 0, stream>>>(p); };
  if (p.states.dim_k <= 32) {
    launch(run_recurrent<T, 8, kLeaves>);
  } else if (p.states.dim_k <= 64) {
    launch(run_recurrent<T, 16, kLeaves>);
  } else if (p.states.dim_k <= 128) {
    launch(run_recurrent<T, 32, kLeaves>);
  } else {
    static_assert(kMostKeyDims == 64 * kKeyLanes);
    launch(run_recurrent<T, 64, kLeaves>);
  }
  check_launch("run_recurrent");
}

}  // namespace

void launch_recurrent(const RecurrentParams& params, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const auto launch = [&]<class T>(T) {
    if (params.intermediate.data == nullptr) return launch_for<T, Leaves::kLast>(params, on);
    return params.retrieve_parent_token == nullptr ? launch_for<T, Leaves::kEach>(params, on)
                                                   : launch_for<T, Leaves::kBranches>(params, on);
  };
  switch (params.io.q.dtype) {
    case DType::kF32:
      return launch(float{});
    case DType::kF16:
      return launch(__half{});
    default:
      return launch(__nv_bfloat16{});
  }
}

}  // namespace attnbench::gated_delta_net
