// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "backends/gated_delta_net/recurrent.cuh"
#include "lib/device/cuda/check.cuh"

namespace attnbench::gated_delta_net {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kWholeWarp = 0xffffffffu;
constexpr int kWarps = 4;  ///< of a block

/// Lanes that share a row of the state, and lanes that share the key dims of a column.
constexpr int kColumnLanes = 8;
constexpr int kKeyLanes = kWarp / kColumnLanes;
/// Neighbouring key dims of one lane, which it reads from shared memory at once.
constexpr int kRun = 4;
/// Columns of a lane: one, so that few requests fill a GPU and a token's sums are short, or four,
/// so that a row of a warp is a line of memory, 128 bytes: the caches below take one faster than
/// four sectors of it that are asked for one by one.
constexpr int kNarrow = 1, kWide = 4;
/// Key dims and value dims of the states that wide warps are compiled for, those of Qwen3-Next and
/// Qwen3.5: a lane's 128 numbers leave no registers for offsets that the compiler does not know.
constexpr std::int64_t kWideDims = 128;
/// Wide warps that must be busy until the end to be worth it: two for each SM of an H200
/// (results/h200/linear.md).
constexpr std::int64_t kManyWarps = 256;

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

/// Neighbours in a row, which a lane reads and writes at once.
template <int n>
struct alignas(n * sizeof(float)) Neighbours {
  float at[n];
};

/// What a lane reads of a token before it is needed: its share of q, k and the log decays of key
/// dims, where there is more than one for all, and its columns of v.
template <class T, int kShare, int kMine, bool kDecayOfKeyDims>
struct TokenParts {
  float q[kShare], k[kShare], v[kMine], g[kDecayOfKeyDims ? kShare : 1], beta;

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
#pragma unroll
    for (int c = 0; c < kMine; ++c) v[c] = column < p.states.dim_v ? widened(v_row[column + c]) : 0;
    const auto* const g_row = reinterpret_cast<const float*>(p.io.g.row(token, head));
    if constexpr (kDecayOfKeyDims) {
#pragma unroll
      for (int i = 0; i < kShare; ++i) {
        const int dim = i * kWarp + lane;
        g[i] = dim < p.states.dim_k ? g_row[dim] : 0;
      }
    } else {
      g[0] = *g_row;
    }
    beta = *reinterpret_cast<const float*>(p.io.beta.row(token, head));
  }

  /// x times the factor, to where all lanes find it.
  __device__ static void share(const float (&x)[kShare], float factor, float* to) {
#pragma unroll
    for (int i = 0; i < kShare; ++i) {
      to[i * kWarp + static_cast<int>(threadIdx.x) % kWarp] = x[i] * factor;
    }
  }

  /// The same of x / sqrt(sum x^2 + 1e-6).
  __device__ static void normalise(const float (&x)[kShare], float factor, float* to) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kShare; ++i) sum += x[i] * x[i];
    share(x, factor / sqrtf(sum_over_lanes<1>(sum) + 1e-6f), to);
  }
};

/// Where log decays become factors that all lanes find.
template <int kShare>
__device__ void share_decays(const float (&g)[kShare], float* to) {
#pragma unroll
  for (int i = 0; i < kShare; ++i) {
    to[i * kWarp + static_cast<int>(threadIdx.x) % kWarp] = expf(g[i]);
  }
}

/// Calls use(i, x[dim]) for each key dim i of this lane; x is shared by the warp.
template <int kRows, class Use>
__device__ void for_all_runs(const float* x, const Use& use) {
  const int mine = static_cast<int>(threadIdx.x) % kWarp / kColumnLanes;
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

/// Neighbouring value dims of one value head of one request, which no other warp touches: their
/// part of the state stays in registers from the first token to the last. A lane has `kRows` key
/// dims of `kMine` of them.
template <class T, int kRows, int kMine, Leaves kLeaves, Rule kRule>
__global__ void __launch_bounds__(kWarp* kWarps, kMine == kWide ? 2 : 0)
    run_recurrent(RecurrentParams p) {
  if constexpr (kMine == kWide) p.states.dim_k = p.states.dim_v = kWideDims;  // constants from here
  constexpr bool kDecayOfKeyDims = kRule == Rule::kKimiDelta;
  constexpr bool kIsDeltaNet = kRule != Rule::kLinear;
  constexpr int kColumns = kColumnLanes * kMine;
  constexpr int kDims = kRows * kKeyLanes;  // key dims with room
  using Row = Neighbours<kMine>;
  __shared__ __align__(16) float shared[kWarps][kDecayOfKeyDims ? 3 : 2][kDims];
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
  const int column = static_cast<int>(item % blocks) * kColumns + lane % kColumnLanes * kMine;
  const bool is_column = column < p.states.dim_v;
  const bool starts_empty = p.has_initial_state[request] == 0;
  // Key dim i of a lane: the lanes of a column take turns, a run of neighbours each.
  const int first_dim = lane / kColumnLanes * kRun;
  const auto dim_of = [&](int i) { return i / kRun * (kRun * kKeyLanes) + first_dim + i % kRun; };

  float* const state = p.states.state(slot, head) + column;
  Row s[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int dim = dim_of(i);
    const bool is_there = is_column && dim < p.states.dim_k && !starts_empty;
    s[i] = is_there ? *reinterpret_cast<const Row*>(state + dim * p.states.dim_v) : Row{};
  }

  // From row to row: an offset for each would not fit beside the state where a loop keeps them.
  const auto keep = [&](float* to) {
    float* row = to + first_dim * p.states.dim_v;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (is_column && dim_of(i) < p.states.dim_k) *reinterpret_cast<Row*>(row) = s[i];
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
      if (is_column && dim_of(i) < p.states.dim_k) s[i] = *reinterpret_cast<const Row*>(row);
      row += (dim_of(i + 1) - dim_of(i)) * stride;
    }
  };

  float *const q = shared[warp][0], *const k = shared[warp][1];
  constexpr int kShare = kDims / kWarp;
  TokenParts<T, kShare, kMine, kDecayOfKeyDims> next;
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
    if constexpr (kIsDeltaNet) {
      now.normalise(now.q, p.scale, q);
      now.normalise(now.k, 1, k);
    } else {
      now.share(now.q, p.scale, q);
      now.share(now.k, 1, k);
    }
    if constexpr (kDecayOfKeyDims) share_decays(now.g, shared[warp][2]);
    __syncwarp();
    float decay = 1;
    if constexpr (kDecayOfKeyDims) {
      for_all_runs<kRows>(shared[warp][2], [&](int i, float factor) {
#pragma unroll
        for (int c = 0; c < kMine; ++c) s[i].at[c] = __fmul_rn(s[i].at[c], factor);
      });
    } else {
      decay = expf(now.g[0]);
    }
    Row remembered{}, w, out{};
    for_all_runs<kRows>(k, [&](int i, float key) {
#pragma unroll
      for (int c = 0; c < kMine; ++c) {
        // Rounded before anything is added, so that wide and narrow warps have the same bits.
        if constexpr (!kDecayOfKeyDims) s[i].at[c] = __fmul_rn(s[i].at[c], decay);
        if constexpr (kIsDeltaNet) remembered.at[c] += key * s[i].at[c];
      }
    });
#pragma unroll
    for (int c = 0; c < kMine; ++c) {
      const float known = kIsDeltaNet ? sum_over_lanes<kColumnLanes>(remembered.at[c]) : 0;
      w.at[c] = now.beta * (now.v[c] - known);
    }
    for_all_runs<kRows>(k, [&](int i, float key) {
#pragma unroll
      for (int c = 0; c < kMine; ++c) s[i].at[c] += key * w.at[c];
    });
    for_all_runs<kRows>(q, [&](int i, float query) {
#pragma unroll
      for (int c = 0; c < kMine; ++c) out.at[c] += query * s[i].at[c];
    });
    auto* const out_row = reinterpret_cast<T*>(p.io.out.row(token, head));
#pragma unroll
    for (int c = 0; c < kMine; ++c) {
      float sum = sum_over_lanes<kColumnLanes>(out.at[c]);
      if constexpr (!kIsDeltaNet) {
        if (p.io.skip != nullptr) sum = __fmaf_rn(p.io.skip[head], now.v[c], sum);
      }
      if (lane < kColumnLanes && is_column) put(out_row + column + c, sum);
    }
    if constexpr (kLeaves != Leaves::kLast) keep(p.intermediate.state(token, head) + column);
  }
  if constexpr (kLeaves == Leaves::kLast) keep(state);
}

/// Warps for the states of so many requests, where lanes have `mine` columns each.
std::int64_t warps(const RecurrentParams& p, std::int64_t requests, std::int64_t mine) {
  const std::int64_t columns = kColumnLanes * mine;
  return requests * p.states.heads * ((p.states.dim_v + columns - 1) / columns);
}

template <class T, Leaves kLeaves, Rule kRule>
void launch_for(const RecurrentParams& p, cudaStream_t stream) {
  const auto launch = [&](auto kernel, int mine) {
    const std::int64_t all = warps(p, p.requests, mine);
    const auto blocks = static_cast<unsigned>((all + kWarps - 1) / kWarps);
    kernel<<<blocks, kWarp * kWarps, 0, stream>>>(p);
  };
  if constexpr (kLeaves != Leaves::kBranches) {  // a node's parent is read back: narrow is faster
    if (p.states.dim_k == kWideDims && p.states.dim_v == kWideDims &&
        warps(p, p.busy_requests, kWide) >= kManyWarps) {
      return launch(run_recurrent<T, kWideDims / kKeyLanes, kWide, kLeaves, kRule>, kWide);
    }
  }
  if (p.states.dim_k <= 32) {
    launch(run_recurrent<T, 8, kNarrow, kLeaves, kRule>, kNarrow);
  } else if (p.states.dim_k <= 64) {
    launch(run_recurrent<T, 16, kNarrow, kLeaves, kRule>, kNarrow);
  } else if (p.states.dim_k <= 128) {
    launch(run_recurrent<T, 32, kNarrow, kLeaves, kRule>, kNarrow);
  } else {
    static_assert(kMostKeyDims == 64 * kKeyLanes);
    launch(run_recurrent<T, 64, kNarrow, kLeaves, kRule>, kNarrow);
  }
}

}  // namespace

template <Rule kRule>
void launch_recurrent(const RecurrentParams& params, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const auto launch = [&]<class T>(T) {
    if (params.intermediate.data == nullptr) return launch_for<T, Leaves::kLast, kRule>(params, on);
    return params.retrieve_parent_token == nullptr
               ? launch_for<T, Leaves::kEach, kRule>(params, on)
               : launch_for<T, Leaves::kBranches, kRule>(params, on);
  };
  switch (params.io.q.dtype) {
    case DType::kF32:
      launch(float{});
      break;
    case DType::kF16:
      launch(__half{});
      break;
    default:
      launch(__nv_bfloat16{});
  }
  check_launch("run_recurrent");
}

}  // namespace attnbench::gated_delta_net
