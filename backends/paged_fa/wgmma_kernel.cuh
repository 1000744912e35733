// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/cp_async.cuh"
#include "backends/common/cuda/ldmatrix.cuh"
#include "backends/common/cuda/mbarrier.cuh"
#include "backends/common/cuda/wgmma.cuh"
#include "backends/paged_fa/logits.cuh"
#include "backends/paged_fa/store.cuh"

// Prompt tiles on Hopper, after FlashAttention-3 (Shah et al., 2024): one warpgroup copies pages
// into shared memory; two have 64 rows each and work on the tensor cores and on the softmax in
// turns. Head dim 128.
namespace attnbench::paged_fa::hopper {

inline constexpr int kRows = 128;
inline constexpr int kStepKeys = 128;
inline constexpr int kDim = 128;
inline constexpr int kStages = 2;
inline constexpr int kGroupThreads = 128;
inline constexpr int kConsumers = 2;
inline constexpr int kThreads = (1 + kConsumers) * kGroupThreads;
// What 65536 registers allow: 128 * 40 + 256 * 232.
inline constexpr int kProducerRegisters = 40;
inline constexpr int kConsumerRegisters = 232;

/// A tile of 128 rows of 128 elements: two halves of 64 columns, each of 128 swizzled rows.
inline constexpr int kHalfBytes = 128 * cuda::kSwizzledRowBytes;
inline constexpr int kTileBytes = 2 * kHalfBytes;

/// Where things lie in shared memory.
struct Shared {
  std::uint32_t base;  ///< multiple of 1024

  static constexpr int kBarriers = (1 + 2 * kStages) * kTileBytes;
  static constexpr int kLast = kBarriers + 8 * (2 + 4 * kStages);
  static constexpr int kBytes = kLast + 16 + 1024;  ///< 1024 for the alignment of the base

  __device__ __forceinline__ std::uint32_t q() const { return base; }
  __device__ __forceinline__ std::uint32_t k(int stage) const {
    return base + (1 + stage) * kTileBytes;
  }
  __device__ __forceinline__ std::uint32_t v(int stage) const { return k(kStages + stage); }
  __device__ __forceinline__ std::uint32_t barrier(int index) const {
    return base + kBarriers + 8 * index;
  }
  __device__ __forceinline__ std::uint32_t q_full() const { return barrier(0); }
  __device__ __forceinline__ std::uint32_t q_empty() const { return barrier(1); }
  __device__ __forceinline__ std::uint32_t k_full(int stage) const { return barrier(2 + stage); }
  __device__ __forceinline__ std::uint32_t v_full(int stage) const {
    return barrier(2 + kStages + stage);
  }
  __device__ __forceinline__ std::uint32_t k_empty(int stage) const {
    return barrier(2 + 2 * kStages + stage);
  }
  __device__ __forceinline__ std::uint32_t v_empty(int stage) const {
    return barrier(2 + 3 * kStages + stage);
  }
};

// Named barriers: whose turn it is on the tensor cores, and all consumers.
inline constexpr int kTurn = 1;  // and the next
inline constexpr int kAllConsumers = 3;

/// Work of a block: items of one KV head after the other, so that its keys stay in the second-level
/// cache, longest first; every other round backwards, so that no block always gets the longest.
struct WorkList {
  int round = 0;
  __device__ __forceinline__ bool next(const PagedFaParams& p, PagedFaItem& item, int& kv_head) {
    const int grid = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
    const int index = round * grid + (round % 2 == 0 ? block : grid - 1 - block);
    ++round;
    if (index >= p.num_items * p.heads_kv) return false;
    kv_head = index / p.num_items;
    item = p.items[index % p.num_items];
    return true;
  }
};

__device__ __forceinline__ int steps_of(const PagedFaItem& item) {
  return max(1, (item.key_end - item.key_begin + kStepKeys - 1) / kStepKeys);
}

/// One of the four warps that copy: 32 rows of every tile.
class Producer {
 public:
  __device__ __forceinline__ Producer(const PagedFaParams& p, Shared shared)
      : p_(p),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x % 32)),
        first_row_(static_cast<int>(threadIdx.x % kGroupThreads) / 32 * 32) {
    const int chunk = lane_ % 16, odd = lane_ / 16;
    to_ = chunk / 8 * kHalfBytes + (first_row_ + odd) * cuda::kSwizzledRowBytes +
          16 * ((chunk % 8) ^ odd);
  }

  __device__ __forceinline__ void run() {
    WorkList work;
    PagedFaItem item;
    int kv_head = 0, step = 0, tile = 0;
    for (; work.next(p_, item, kv_head); ++tile) {
      const std::int32_t* const pages = p_.page_table + item.sequence * p_.page_table_stride;
      const std::byte* const k = p_.k + kv_head * p_.k_head_stride;
      const std::byte* const v = p_.v + kv_head * p_.v_head_stride;
      const int steps = steps_of(item);
      int key = item.key_begin + first_row_ + lane_;
      const auto page_of = [&](int at) {
        if (at >= item.key_end) return -1;
        return __ldg(pages + (p_.page_shift >= 0 ? at >> p_.page_shift : at / p_.page_size));
      };
      int page = page_of(key), next_page = page_of(key + kStepKeys);
      copy(offset(page, key, p_.k_page_stride, p_.k_token_stride), k,
           acquire(shared_.k_empty(step % kStages), step / kStages, shared_.k(step % kStages)),
           shared_.k_full(step % kStages));
      copy(query_offset(item, kv_head), p_.q, acquire(shared_.q_empty(), tile, shared_.q()),
           shared_.q_full());
      for (int i = 0; i < steps; ++i, ++step, key += kStepKeys) {
        if (i + 1 < steps) {
          const int ahead = step + 1;
          copy(offset(next_page, key + kStepKeys, p_.k_page_stride, p_.k_token_stride), k,
               acquire(shared_.k_empty(ahead % kStages), ahead / kStages,
                       shared_.k(ahead % kStages)),
               shared_.k_full(ahead % kStages));
        }
        copy(offset(page, key, p_.v_page_stride, p_.v_token_stride), v,
             acquire(shared_.v_empty(step % kStages), step / kStages, shared_.v(step % kStages)),
             shared_.v_full(step % kStages));
        page = next_page;
        next_page = page_of(key + 2 * kStepKeys);
      }
    }
    cuda::cp_async_wait<0>();
    publish();
  }

 private:
  static constexpr std::uint32_t kAbsent = ~0u;

  /// Waits until a tile's `use`th use may begin.
  __device__ __forceinline__ static std::uint32_t acquire(std::uint32_t empty, int use,
                                                          std::uint32_t tile) {
    cuda::mbarrier_wait(empty, (use & 1) ^ 1);
    return tile;
  }

  __device__ __forceinline__ std::uint32_t offset(int page, int key, std::int64_t page_stride,
                                                  std::int64_t token_stride) const {
    if (page < 0) return kAbsent;
    const int rest = p_.page_shift >= 0 ? key & (p_.page_size - 1) : key % p_.page_size;
    return static_cast<std::uint32_t>((page * page_stride + rest * token_stride) >> 5);
  }
  __device__ __forceinline__ std::uint32_t query_offset(const PagedFaItem& item,
                                                        int kv_head) const {
    if (first_row_ + lane_ >= item.rows) return kAbsent;
    const RowPlace place = place_of(p_, item, kv_head, first_row_ + lane_);
    return static_cast<std::uint32_t>(
        (place.token * p_.q_token_stride + place.head * p_.q_head_stride) >> 5);
  }

  /// Starts copying 32 rows, whose offsets the lanes hold, and then declares the copies before
  /// these as done: two are on their way at any time.
  __device__ __forceinline__ void copy(std::uint32_t offset, const std::byte* from,
                                       std::uint32_t tile, std::uint32_t full) {
    const std::byte* const column = from + 16 * (lane_ % 16);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const std::uint32_t at = __shfl_sync(~0u, offset, 2 * i + lane_ / 16);
      const bool real = at != kAbsent;
      // Row 2 i + odd of the warp: i % 4 picks bits 1 and 2 of the swizzle.
      const std::uint32_t to = tile + ((to_ + 2 * i * cuda::kSwizzledRowBytes) ^ (32 * (i % 4)));
      cuda::cp_async_16(to, column + (real ? static_cast<std::int64_t>(at) << 5 : 0), real);
    }
    cuda::cp_async_commit();
    cuda::cp_async_wait<1>();
    publish();
    pending_ = full;
  }

  __device__ __forceinline__ void publish() {
    if (pending_ == 0) return;
    cuda::fence_proxy_async();
    __syncwarp();
    if (lane_ == 0) cuda::mbarrier_arrive(pending_);
  }

  const PagedFaParams& p_;
  Shared shared_;
  int lane_;
  int first_row_;
  std::uint32_t to_;
  std::uint32_t pending_ = 0;
};

/// One of the two warpgroups that compute: 64 rows.
template <class T>
class Consumer {
 public:
  __device__ __forceinline__ Consumer(const PagedFaParams& p, Shared shared, int group)
      : p_(p), shared_(shared), group_(group) {}

  __device__ __forceinline__ void run(bool* last) {
    if (group_ == 1) cuda::named_arrive(kTurn, 2 * kGroupThreads);  // the other begins
    WorkList work;
    PagedFaItem item;
    int kv_head = 0, step = 0, tile = 0;
    for (; work.next(p_, item, kv_head); ++tile) {
      float out[16][4] = {};
      float highest[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
      attend(item, tile, step, out, highest, sum);
      store(item, kv_head, out, highest, sum);
      merge_pieces<T, kDim>(p_, item, kv_head, static_cast<int>(threadIdx.x) - kGroupThreads,
                            kConsumers * kGroupThreads, last,
                            [] { cuda::named_sync(kAllConsumers, kConsumers * kGroupThreads); });
    }
  }

 private:
  __device__ __forceinline__ void take_turn() const {
    cuda::named_sync(kTurn + group_, 2 * kGroupThreads);
  }
  __device__ __forceinline__ void pass_turn() const {
    cuda::named_arrive(kTurn + 1 - group_, 2 * kGroupThreads);
  }
  __device__ __forceinline__ static void release(std::uint32_t empty) {
    if (threadIdx.x % 32 == 0) cuda::mbarrier_arrive(empty);
  }

  __device__ __forceinline__ void start_qk(float (&s)[16][4], std::uint32_t k_tile) const {
    const std::uint32_t q = shared_.q() + group_ * 64 * cuda::kSwizzledRowBytes;
    const std::uint64_t a = cuda::wgmma_descriptor(q, cuda::kSwizzledAtomBytes, 16);
    const std::uint64_t b = cuda::wgmma_descriptor(k_tile, cuda::kSwizzledAtomBytes, 16);
    cuda::wgmma_fence();
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i) {
      const int at = (i / 4 * kHalfBytes + i % 4 * 32) >> 4;
      cuda::wgmma_m64n128k16<T>(s, a + at, b + at, i > 0);
    }
    cuda::wgmma_commit();
  }
  __device__ __forceinline__ static void start_pv(float (&out)[16][4],
                                                  const std::uint32_t (&weights)[8][4],
                                                  std::uint32_t v_tile) {
    const std::uint64_t b = cuda::wgmma_descriptor(v_tile, cuda::kSwizzledAtomBytes, kHalfBytes);
    cuda::wgmma_fence();
#pragma unroll
    for (int i = 0; i < kStepKeys / 16; ++i) {
      const int at = (2 * i * cuda::kSwizzledAtomBytes) >> 4;
      cuda::wgmma_m64n128k16<T>(out, weights[i], b + at);
    }
    cuda::wgmma_commit();
  }

  /// Logits to weights; `rescale` is for what was summed before.
  __device__ __forceinline__ void soften(float (&s)[16][4], const PagedFaItem& item, int first_key,
                                         float (&highest)[2], float (&sum)[2],
                                         float (&rescale)[2]) const {
    float factor = p_.scale * cuda::kLog2e;
    if (p_.softcap > 0) {
      factor = 1;
      cap_logits(s, p_);
    }
    if (first_key < item.full_begin || first_key + kStepKeys > item.full_end) {
      const cuda::RequestGeometry request = geometry_of(p_, item.sequence);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        hide_row<false>(s, i, first_key, row(i), p_, item, request);
      }
    }
    to_weights(s, factor, highest, sum, rescale);
  }

  __device__ __forceinline__ static void pack(std::uint32_t (&weights)[8][4],
                                              const float (&s)[16][4]) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      weights[i][0] = cuda::pack2<T>(s[2 * i][0], s[2 * i][1]);
      weights[i][1] = cuda::pack2<T>(s[2 * i][2], s[2 * i][3]);
      weights[i][2] = cuda::pack2<T>(s[2 * i + 1][0], s[2 * i + 1][1]);
      weights[i][3] = cuda::pack2<T>(s[2 * i + 1][2], s[2 * i + 1][3]);
    }
  }

  __device__ __forceinline__ int row(int i) const {
    const int thread = static_cast<int>(threadIdx.x % kGroupThreads);
    return 64 * group_ + thread / 32 * 16 + thread % 32 / 4 + 8 * i;
  }

  /// The logits of step n + 1 and the output of step n are computed while the softmax of the other
  /// warpgroup runs, and the output of step n also while this one's does.
  __device__ __forceinline__ void attend(const PagedFaItem& item, int tile, int& step,
                                         float (&out)[16][4], float (&highest)[2],
                                         float (&sum)[2]) const {
    const int steps = steps_of(item);
    int key = item.key_begin;
    float s[16][4];
    std::uint32_t weights[8][4];
    float rescale[2];

    cuda::mbarrier_wait(shared_.q_full(), tile & 1);
    cuda::mbarrier_wait(shared_.k_full(step % kStages), step / kStages & 1);
    start_qk(s, shared_.k(step % kStages));
    cuda::wgmma_wait<0>();
    cuda::pin_registers(s);
    release(shared_.k_empty(step % kStages));
    if (steps == 1) release(shared_.q_empty());
    soften(s, item, key, highest, sum, rescale);
    pack(weights, s);

    for (int i = 1; i < steps; ++i) {
      key += kStepKeys;
      const int next = step + 1;
      cuda::mbarrier_wait(shared_.k_full(next % kStages), next / kStages & 1);
      take_turn();
        start_qk(s, shared_.k(next % kStages));
      cuda::mbarrier_wait(shared_.v_full(step % kStages), step / kStages & 1);
      start_pv(out, weights, shared_.v(step % kStages));
      pass_turn();
      cuda::wgmma_wait<1>();
      cuda::pin_registers(s);
      release(shared_.k_empty(next % kStages));
      if (i + 1 == steps) release(shared_.q_empty());
      soften(s, item, key, highest, sum, rescale);
      cuda::wgmma_wait<0>();
      cuda::pin_registers(out);
      release(shared_.v_empty(step % kStages));
      pack(weights, s);
#pragma unroll
      for (auto& columns : out) {
        columns[0] *= rescale[0];
        columns[1] *= rescale[0];
        columns[2] *= rescale[1];
        columns[3] *= rescale[1];
      }
      step = next;
    }
    cuda::mbarrier_wait(shared_.v_full(step % kStages), step / kStages & 1);
    start_pv(out, weights, shared_.v(step % kStages));
    cuda::wgmma_wait<0>();
    cuda::pin_registers(out);
    release(shared_.v_empty(step % kStages));
    ++step;
#pragma unroll
    for (float& x : sum) {
      x += __shfl_xor_sync(~0u, x, 1);
      x += __shfl_xor_sync(~0u, x, 2);
    }
  }

  __device__ __forceinline__ void store(const PagedFaItem& item, int kv_head,
                                        const float (&out)[16][4], const float (&highest)[2],
                                        const float (&sum)[2]) const {
    const int pair = static_cast<int>(threadIdx.x % 4);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (row(i) >= item.rows) continue;
      const RowStore<T, kDim> store(p_, item, kv_head, row(i), highest[i], sum[i]);
#pragma unroll
      for (int n = 0; n < 16; ++n) {
        float run[2] = {out[n][2 * i], out[n][2 * i + 1]};
        store.values(8 * n + 2 * pair, run);
      }
      if (pair == 0) store.lse();
    }
  }

  const PagedFaParams& p_;
  Shared shared_;
  int group_;
};

/// As many blocks as multiprocessors; each takes items until there are no more.
template <class T>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_kernel([[maybe_unused]] const __grid_constant__ PagedFaParams p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ std::byte dynamic[];
  const Shared shared{(cuda::shared_address(dynamic) + 1023) & ~1023u};
  bool* const last = reinterpret_cast<bool*>(
      dynamic + (shared.base - cuda::shared_address(dynamic)) + Shared::kLast);
  if (threadIdx.x == 0) {
    constexpr int kCopiers = kGroupThreads / 32, kReaders = kConsumers * kGroupThreads / 32;
    cuda::mbarrier_init(shared.q_full(), kCopiers);
    cuda::mbarrier_init(shared.q_empty(), kReaders);
    for (int stage = 0; stage < kStages; ++stage) {
      cuda::mbarrier_init(shared.k_full(stage), kCopiers);
      cuda::mbarrier_init(shared.v_full(stage), kCopiers);
      cuda::mbarrier_init(shared.k_empty(stage), kReaders);
      cuda::mbarrier_init(shared.v_empty(stage), kReaders);
    }
  }
  __syncthreads();
  const int group = static_cast<int>(threadIdx.x) / kGroupThreads;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kProducerRegisters));
    Producer(p, shared).run();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kConsumerRegisters));
    Consumer<T>(p, shared, group - 1).run(last);
  }
#endif
}

}  // namespace attnbench::paged_fa::hopper
