// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/cp_async.cuh"
#include "backends/common/cuda/ldmatrix.cuh"
#include "backends/common/cuda/mbarrier.cuh"
#include "backends/common/cuda/wgmma.cuh"
#include "backends/indexer/dispatch.cuh"

// Keys are the rows of a matrix instruction and heads its columns: a thread has two keys' products
// with a quarter of the heads, so that the sum over heads takes two exchanges between lanes. A key
// and a query of a head are 128 bytes, one row of a tile that is swizzled over 128 bytes.
namespace attnbench::indexer {
namespace {

constexpr int kStages = 4;  // key tiles of a warpgroup on their way or in use
constexpr int kRowBytes = IndexerInputs::kDim;
constexpr int kTileBytes = kTileKeys * kRowBytes;
constexpr int kScaleBytes = kTileKeys * static_cast<int>(sizeof(float));

/// Of tokens: their queries, weights, and how many keys each sees.
constexpr int query_bytes(int tokens) {
  return tokens * (kMostHeads * (kRowBytes + static_cast<int>(sizeof(float))) +
                   static_cast<int>(sizeof(std::int32_t)));
}
/// Warpgroups of a block. Each takes tiles of its own, but the queries of several tokens are in
/// shared memory once for all that there is room for.
constexpr int groups_of(int tokens) { return tokens == 1 ? 1 : kMostGroups; }

constexpr int shared_bytes(int tokens) {
  return groups_of(tokens) * kStages * (kTileBytes + kScaleBytes) + query_bytes(tokens);
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

constexpr int kColumnTiles = kMostHeads / 8;
constexpr int kChunks = kRowBytes / 16;  // of a row, each one asynchronous copy

/// d = a b, or d += a b: 64 keys in registers, 64 heads in shared memory and 32 of the 128
/// elements, all e4m3.
__device__ __forceinline__ void multiply(float (&d)[kColumnTiles][4], const std::uint32_t (&a)[4],
                                         std::uint64_t b, bool add) {
#define FLOATS(n) "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3])
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, add, 1, 1;\n}\n"
      : FLOATS(0), FLOATS(1), FLOATS(2), FLOATS(3), FLOATS(4), FLOATS(5), FLOATS(6), FLOATS(7)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
#undef FLOATS
}

/// A warp's 16 keys as the first operand of four matrix instructions: tiles of 8 keys and 16 bytes,
/// as ldmatrix brings them. From registers they are read once for all tokens, and shared memory has
/// only queries to deliver: with both operands there it would be the limit.
struct Keys {
  std::uint32_t parts[kRowBytes / 32][4];
};

/// Products of a tile of keys with the heads of a token, 64 rows of 128 bytes.
__device__ __forceinline__ void start_products(float (&d)[kColumnTiles][4], const Keys& keys,
                                               std::uint32_t queries) {
  const std::uint64_t b = cuda::wgmma_descriptor(queries, cuda::kSwizzledAtomBytes, 0);
  cuda::pin_registers(d);
  cuda::wgmma_fence();
#pragma unroll
  for (int k = 0; k < kRowBytes / 32; ++k) {
    multiply(d, keys.parts[k], b + static_cast<std::uint64_t>(2 * k), k > 0);
  }
  cuda::wgmma_commit();
}

__device__ __forceinline__ std::uint32_t swizzled(int row, int chunk) {
  return static_cast<std::uint32_t>(row * kRowBytes + (chunk ^ (row & 7)) * 16);
}

/// The work of a block, which it has found out from the lengths.
struct Work {
  int request, first_token, tokens;  ///< of the batch
  int first_tile, end_tile;

  __device__ Work(const ScoreStep& step) {
    request = static_cast<int>(blockIdx.y) / step.groups;
    const int group = static_cast<int>(blockIdx.y) % step.groups;
    first_token = step.qo_indptr[request] + group * step.tokens;
    tokens = min(step.qo_indptr[request + 1] - first_token, step.tokens);
    first_tile = static_cast<int>(blockIdx.x) * step.tiles;
    // The last token sees the most keys.
    const int keys = tokens > 0 ? step.in.row_lens[first_token + tokens - 1] : 0;
    end_tile = min((keys + kTileKeys - 1) / kTileKeys, first_tile + step.tiles);
  }
};

template <int kTokensAtOnce>
class Block {
 public:
  __device__ Block(const ScoreStep& step, const Work& work, std::uint32_t shared,
                   const unsigned char* memory)
      : step_(step), work_(work), shared_(shared), memory_(memory) {}

  __device__ __forceinline__ void run() {
    load_queries();
#pragma unroll
    for (int i = 0; i < kStages - 1; ++i) load_keys(i);
    cuda::cp_async_wait<kStages - 2>();
    cuda::fence_proxy_async();  // of the queries
    __syncthreads();
    if constexpr (kTokensAtOnce == 1) keep_weights();
    for (int i = 0; tile_of(i) < work_.end_tile; ++i) {
      if (i > 0) {
        cuda::cp_async_wait<kStages - 2>();
        sync_group();
      }
      score(i);
    }
    cuda::cp_async_wait<0>();
  }

 private:
  static constexpr int kGroups = groups_of(kTokensAtOnce);
  static constexpr int kThreads = kGroups * kGroupThreads;
  static constexpr int kQueries = kGroups * kStages * (kTileBytes + kScaleBytes);

  [[nodiscard]] __device__ static int group() {
    return static_cast<int>(threadIdx.x) / kGroupThreads;
  }
  [[nodiscard]] __device__ static int thread_of_group() {
    return static_cast<int>(threadIdx.x) % kGroupThreads;
  }
  __device__ static void sync_group() {
    if constexpr (kGroups == 1) {
      __syncthreads();
    } else {
      asm volatile("bar.sync %0, %1;\n" ::"r"(1 + group()), "n"(kGroupThreads) : "memory");
    }
  }

  /// The group's `i`th tile.
  [[nodiscard]] __device__ int tile_of(int i) const {
    return work_.first_tile + i * kGroups + group();
  }
  [[nodiscard]] __device__ static int stage_of(int i) { return group() * kStages + i % kStages; }
  [[nodiscard]] __device__ std::uint32_t keys_at(int i) const {
    return shared_ + static_cast<std::uint32_t>(stage_of(i) * kTileBytes);
  }
  [[nodiscard]] __device__ static int scales_at(int i) {
    return kGroups * kStages * kTileBytes + stage_of(i) * kScaleBytes;
  }
  [[nodiscard]] __device__ int queries_at(int token) const {
    return kQueries + token * kMostHeads * kRowBytes;
  }
  [[nodiscard]] __device__ const float* floats_at(int offset) const {
    return reinterpret_cast<const float*>(memory_ + offset);
  }
  [[nodiscard]] __device__ int weights_at(int token) const {
    return kQueries + step_.tokens * kMostHeads * kRowBytes +
           token * kMostHeads * static_cast<int>(sizeof(float));
  }

  [[nodiscard]] __device__ int lens_at(int token) const {
    return weights_at(step_.tokens) + token * static_cast<int>(sizeof(std::int32_t));
  }
  [[nodiscard]] __device__ int keys_seen(int token) const {
    return *reinterpret_cast<const std::int32_t*>(memory_ + lens_at(token));
  }
  /// Of heads 2 (lane % 4) and the next one, and of those 8, 16, ... further.
  [[nodiscard]] __device__ const float2* weights_of_lane(int token) const {
    return reinterpret_cast<const float2*>(memory_ + weights_at(token)) + threadIdx.x % 4;
  }
  __device__ __forceinline__ void keep_weights() {
#pragma unroll
    for (int n = 0; n < kColumnTiles; ++n) weights_[n] = weights_of_lane(0)[4 * n];
  }

  /// Of heads that the indexer lacks zeros, with weights of 0.
  __device__ __forceinline__ void load_queries() const {
    const int heads = step_.in.heads;
    const int own = static_cast<int>(threadIdx.x);
    if (own < work_.tokens) {
      cuda::cp_async_4(shared_ + static_cast<std::uint32_t>(lens_at(own)),
                       step_.in.row_lens + work_.first_token + own, true);
    }
    for (int token = 0; token < work_.tokens; ++token) {
      const std::int64_t row = std::int64_t{work_.first_token + token} * heads;
      for (int i = static_cast<int>(threadIdx.x); i < kMostHeads * kChunks; i += kThreads) {
        const int head = i / kChunks, chunk = i % kChunks;
        const bool exists = head < heads;
        cuda::cp_async_16(
            shared_ + static_cast<std::uint32_t>(queries_at(token)) + swizzled(head, chunk),
            step_.in.q + (exists ? (row + head) * kRowBytes + chunk * 16 : 0), exists);
      }
      const int head = static_cast<int>(threadIdx.x);
      if (head < kMostHeads) {
        const bool exists = head < heads;
        cuda::cp_async_4(
            shared_ + static_cast<std::uint32_t>(weights_at(token)) +
                static_cast<std::uint32_t>(head) * static_cast<std::uint32_t>(sizeof(float)),
            step_.in.weights + (exists ? row + head : 0), exists);
      }
    }
  }

  /// Closes a group of copies, also where there is no such tile: waits count groups.
  __device__ __forceinline__ void load_keys(int i) const {
    const int tile = tile_of(i);
    if (tile < work_.end_tile) {
      const int in_page = tile % step_.tiles_of_page;
      const std::int64_t page =
          step_.block_table[work_.request * step_.table_width + tile / step_.tiles_of_page];
      const std::byte* const keys =
          step_.in.cache + page * step_.in.page_size * IndexerInputs::kKeyBytes;
      const std::byte* const scales = keys + step_.in.page_size * kRowBytes;
#pragma unroll
      for (int each = 0; each < kTileKeys * kChunks / kGroupThreads; ++each) {
        const int chunk = thread_of_group() + each * kGroupThreads;
        cuda::cp_async_16(keys_at(i) + swizzled(chunk / kChunks, chunk % kChunks),
                          keys + in_page * kTileBytes + chunk * 16, true);
      }
      const int chunk = thread_of_group();
      if (chunk < kScaleBytes / 16) {
        cuda::cp_async_16(shared_ + static_cast<std::uint32_t>(scales_at(i) + chunk * 16),
                          scales + in_page * kScaleBytes + chunk * 16, true);
      }
    }
    cuda::cp_async_commit();
  }

  [[nodiscard]] __device__ __forceinline__ Keys keys_of_warp(int i) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int row = thread_of_group() / 32 * 16 + lane % 16;
    Keys keys;
#pragma unroll
    for (int k = 0; k < kRowBytes / 32; ++k) {
      cuda::ldmatrix_x4(keys.parts[k], keys_at(i) + swizzled(row, 2 * k + lane / 16));
    }
    return keys;
  }

  __device__ __forceinline__ void start(float (&d)[kColumnTiles][4], const Keys& keys,
                                        int token) const {
    start_products(d, keys, shared_ + static_cast<std::uint32_t>(queries_at(token)));
  }

  __device__ __forceinline__ void score(int i) const {
    if constexpr (kTokensAtOnce == 2) {
      if (work_.tokens == 4) return score_of<4>(i);
      if (work_.tokens == 8) return score_of<8>(i);
    }
    score_any(i);
  }

  /// A number of tokens that is known when this is compiled: products of two tokens are always
  /// under way, and what is done with their sums takes no branch.
  template <int kTokens>
  __device__ __forceinline__ void score_of(int i) const {
    float d[2][kColumnTiles][4];
    float sums[2][2];
    const Keys keys = keys_of_warp(i);
    const float scale = floats_at(scales_at(i))[row_of_lane()];
    start(d[0], keys, 0);
    start(d[1], keys, 1);
    load_keys(i + kStages - 1);
#pragma unroll
    for (int token = 0; token < kTokens; ++token) {
      if (token + 1 < kTokens) {
        cuda::wgmma_wait<1>();
      } else {
        cuda::wgmma_wait<0>();
      }
      cuda::pin_registers(d[token % 2]);
      sum_heads(token, d[token % 2], sums[token % 2]);
      if (token + 2 < kTokens) start(d[token % 2], keys, token + 2);
      if (token % 2 == 1) write(i, token - 1, sums, scale);
    }
  }

  /// Two tokens at once: while the products of one are summed, those of the other are under way.
  /// The last token of an odd number is computed twice. Keys are asked for behind the first
  /// products, which do not wait for their page.
  __device__ __forceinline__ void score_any(int i) const {
    float d[kTokensAtOnce][kColumnTiles][4];
    float sums[kTokensAtOnce][2];
    const Keys keys = keys_of_warp(i);
    const float scale = floats_at(scales_at(i))[row_of_lane()];
    const int last = work_.tokens - 1;
    for (int token = 0; token <= last; token += kTokensAtOnce) {
      start(d[0], keys, token);
      if constexpr (kTokensAtOnce == 2) start(d[1], keys, min(token + 1, last));
      if (token == 0) load_keys(i + kStages - 1);
      if constexpr (kTokensAtOnce == 2) {
        cuda::wgmma_wait<1>();
        cuda::pin_registers(d[0]);
        sum_heads(token, d[0], sums[0]);
      }
      cuda::wgmma_wait<0>();
      cuda::pin_registers(d[kTokensAtOnce - 1]);
      sum_heads(min(token + kTokensAtOnce - 1, last), d[kTokensAtOnce - 1],
                sums[kTokensAtOnce - 1]);
      write(i, token, sums, scale);
    }
  }

  /// Sums over the lane's heads, for rows lane / 4 and 8 further.
  __device__ __forceinline__ void sum_heads(int token, const float (&d)[kColumnTiles][4],
                                            float (&sums)[2]) const {
    sums[0] = sums[1] = 0;
#pragma unroll
    for (int n = 0; n < kColumnTiles; ++n) {
      const float2 weight = kTokensAtOnce == 1 ? weights_[n] : weights_of_lane(token)[4 * n];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        sums[r] = fmaf(fmaxf(d[n][2 * r], 0.0f), weight.x, sums[r]);
        sums[r] = fmaf(fmaxf(d[n][2 * r + 1], 0.0f), weight.y, sums[r]);
      }
    }
  }

  /// Four lanes share a row's heads. Where two tokens are summed, each lane of the four ends with
  /// the sum of a row and a token of its own; where one is, two of them do.
  static constexpr int kRowBit = kTokensAtOnce;  ///< of the lane: which of two rows it writes
  [[nodiscard]] __device__ static int row_of_lane() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    return thread_of_group() / 32 * 16 + lane / 4 + ((lane & kRowBit) != 0 ? 8 : 0);
  }
  /// The first value, or where the lane has `bit` the second, plus that of the lane whose bit
  /// differs.
  [[nodiscard]] __device__ __forceinline__ static float halve(float first, float second, int bit) {
    const bool has = (threadIdx.x & static_cast<unsigned>(bit)) != 0;
    return (has ? second : first) + __shfl_xor_sync(~0u, has ? first : second, bit);
  }

  __device__ __forceinline__ void write(int i, int token, const float (&sums)[kTokensAtOnce][2],
                                        float scale) const {
    float sum;
    bool writes;
    if constexpr (kTokensAtOnce == 2) {
      sum = halve(halve(sums[0][0], sums[1][0], 1), halve(sums[0][1], sums[1][1], 1), 2);
      token += static_cast<int>(threadIdx.x % 2);
      writes = token < work_.tokens;
    } else {
      sum = halve(sums[0][0], sums[0][1], 1);
      sum += __shfl_xor_sync(~0u, sum, 2);
      writes = threadIdx.x % 4 < 2;
    }
    const int key = tile_of(i) * kTileKeys + row_of_lane();
    if (!writes || key >= keys_seen(token)) return;
    step_.logits[(work_.first_token + token) * step_.columns + key] = sum * scale;
  }

  const ScoreStep& step_;
  const Work& work_;
  std::uint32_t shared_;          ///< address of the block's memory, a multiple of 1024
  const unsigned char* memory_;   ///< the same
  float2 weights_[kColumnTiles];  ///< where one token is all
};

#endif

/// Empty unless compiled for sm_90a.
template <int kTokensAtOnce>
__global__ void __launch_bounds__(groups_of(kTokensAtOnce) * kGroupThreads,
                                  kMostGroups / groups_of(kTokensAtOnce))
    score_keys(const __grid_constant__ ScoreStep step) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) unsigned char memory[];
  const Work work(step);
  if (work.first_tile >= work.end_tile) return;
  Block<kTokensAtOnce>(step, work, static_cast<std::uint32_t>(__cvta_generic_to_shared(memory)),
                       memory)
      .run();
#endif
}

}  // namespace

template <int kTokensAtOnce>
cuda::CompiledKernel<ScoreStep> find_score_kernel(int tokens) {
  return {score_keys<kTokensAtOnce>, groups_of(tokens) * kGroupThreads, shared_bytes(tokens)};
}

}  // namespace attnbench::indexer
