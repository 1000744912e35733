// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/ldmatrix.cuh"
#include "backends/mla/wgmma_layout.cuh"
#include "backends/splitkv/store.cuh"

namespace attnbench::mla::hopper {

/// A row's reference for its weights follows its highest logit only once that is 2^8 times as
/// large: outputs are rarely rescaled, and weights up to 256 are as exact as those up to 1.
inline constexpr float kSlack = 8;

__device__ __forceinline__ void store_matrices(std::uint32_t address, const std::uint32_t (&r)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(address),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
}

/// One of the two warpgroups that compute. Both have the same 64 rows; the first (kGroup 0) takes
/// the logits of each pair's first tile and the left half of the output, the second the others.
template <class T, int kGroup>
class Consumer {
 public:
  __device__ __forceinline__ Consumer(const MlaParams& p, Shared shared)
      : p_(p),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x % 32)),
        warp_row_(static_cast<int>(threadIdx.x % kGroupThreads) / 32 * 16) {}

  __device__ __forceinline__ void run() {
    WorkList work(p_);
    SplitKvItem item;
    for (int count = 0; work.take(item); ++count) {
      load_rope(item);
      const Clear clear = clear_keys(item);
      highest_[0] = highest_[1] = -INFINITY;
      sum_[0] = sum_[1] = 0;
      float out[32][4] = {};
      cuda::mbarrier_wait(shared_.q_full(), count & 1);
      if constexpr (kGroup == 0) {
        attend_first(item, clear, out);
      } else {
        attend_second(item, clear, out);
      }
      finish(item, count % 2 == 1, out);
    }
  }

 private:
  static constexpr int kPairThreads = 2 * kGroupThreads;

  __device__ __forceinline__ int row(int i) const { return warp_row_ + lane_ / 4 + 8 * i; }

  /// The rope columns of the queries as operand A; there is no room for them in shared memory.
  __device__ __forceinline__ void load_rope(const SplitKvItem& item) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const bool real = row(i) < item.rows;
      const int index = item.row_begin + (real ? row(i) : 0);
      const std::byte* const from =
          p_.q + static_cast<std::int64_t>(item.q_begin + index / p_.group) * p_.q_token_stride +
          index % p_.group * p_.q_head_stride + 2 * kDv + 4 * (lane_ % 4);
#pragma unroll
      for (int at = 0; at < 8; ++at) {
        rope_[at / 2][i + 2 * (at % 2)] =
            real ? __ldg(reinterpret_cast<const std::uint32_t*>(from + 16 * at)) : 0u;
      }
    }
  }

  /// Keys [begin, end) that all rows of this warp see.
  struct Clear {
    int begin, end;
  };
  __device__ __forceinline__ Clear clear_keys(const SplitKvItem& item) const {
    const splitkv::LaneRows rows = splitkv::lane_rows(p_, item, warp_row_);
    int end = min(rows.end[0], rows.end[1]);
    if (rows.tree) end = min(end, item.kv_len - item.q_len);
    return {static_cast<int>(
                __reduce_max_sync(~0u, static_cast<unsigned>(max(rows.begin[0], rows.begin[1])))),
            static_cast<int>(__reduce_min_sync(~0u, static_cast<unsigned>(end)))};
  }

  // Parts of tiles: waiting for the copies, saying that they are no longer needed.
  __device__ __forceinline__ void await(Part part) const {
    cuda::mbarrier_wait(shared_.full(part), phase_);
    cuda::fence_proxy_async();  // what cp.async wrote, for the tensor cores
  }
  /// Without a branch: ptxas serialises matrix instructions that are on their way across one.
  __device__ __forceinline__ void release(std::uint32_t empty, bool really = true) const {
    asm volatile(
        "{\n.reg .pred really;\nsetp.ne.b32 really, %1, 0;\n"
        "@really mbarrier.arrive.shared.b64 _, [%0];\n}\n" ::"r"(empty),
        "r"(static_cast<int>(really && lane_ == 0))
        : "memory");
  }

  /// Keeps the compiler from preparing the descriptors of a whole step in registers before the
  /// loop.
  __device__ __forceinline__ static std::uint64_t here(std::uint64_t descriptor) {
    asm volatile("" : "+l"(descriptor));
    return descriptor;
  }

  /// Starts s = q k, or s += q k, of one half of the columns.
  template <bool kRight>
  __device__ __forceinline__ void start_qk(float (&s)[8][4], int tile, bool add) const {
    constexpr int kFirst = kRight ? kHalfBlocks : 0;
    const std::uint64_t a = here(cuda::wgmma_descriptor(shared_.q(), cuda::kSwizzledAtomBytes, 16));
    const std::uint64_t b =
        here(cuda::wgmma_descriptor(shared_.tile(tile), cuda::kSwizzledAtomBytes, 16));
    cuda::wgmma_fence();
#pragma unroll
    for (int i = 0; i < 4 * kHalfBlocks; ++i) {
      const int at = ((kFirst + i / 4) * kBlockBytes + i % 4 * 32) >> 4;
      wgmma_m64n64k16<T>(s, a + at, b + at, add || i > 0);
    }
    if constexpr (kRight) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        wgmma_m64n64k16<T>(s, rope_[i], b + ((2 * kHalfBlocks * kBlockBytes + i * 32) >> 4));
      }
    }
    cuda::wgmma_commit();
  }
  /// Starts out += weights v for this warpgroup's half of the columns.
  __device__ __forceinline__ void start_pv(float (&out)[32][4],
                                           const std::uint32_t (&weights)[4][4], int tile) const {
    const std::uint64_t b = values(tile);
    cuda::wgmma_fence();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      wgmma_m64n256k16<T>(out, weights[i], b + ((2 * i * cuda::kSwizzledAtomBytes) >> 4));
    }
    cuda::wgmma_commit();
  }
  /// The same with the weights that the other warpgroup left in shared memory.
  __device__ __forceinline__ void start_pv_shared(float (&out)[32][4], int tile) const {
    const std::uint64_t a =
        here(cuda::wgmma_descriptor(shared_.weights(tile), cuda::kSwizzledAtomBytes, 16));
    const std::uint64_t b = values(tile);
    cuda::wgmma_fence();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      wgmma_m64n256k16<T>(out, a + (i * 32 >> 4), b + ((2 * i * cuda::kSwizzledAtomBytes) >> 4));
    }
    cuda::wgmma_commit();
  }
  __device__ __forceinline__ std::uint64_t values(int tile) const {
    return here(cuda::wgmma_descriptor(shared_.tile(tile) + kGroup * kHalfBlocks * kBlockBytes,
                                       cuda::kSwizzledAtomBytes, kBlockBytes));
  }

  /// Logits in the log2 domain but for `factor`, which this returns; -inf where a key is hidden.
  __device__ __forceinline__ float finish_logits(float (&s)[8][4], const SplitKvItem& item,
                                                 int first_key, Clear clear) const {
    float factor = p_.scale * cuda::kLog2e;
    if (p_.softcap > 0) {
      const float into = p_.scale / p_.softcap, out_of = p_.softcap * cuda::kLog2e;
      factor = 1;
#pragma unroll
      for (auto& tile : s) {
#pragma unroll
        for (float& x : tile) x = out_of * cuda::tanh_accurate(x * into);
      }
    }
    if (first_key < clear.begin || first_key + kTileKeys > clear.end) hide(s, item, first_key);
    return factor;
  }
  __device__ __forceinline__ void hide(float (&s)[8][4], const SplitKvItem& item,
                                       int first_key) const {
    const std::uint32_t hidden = hidden_keys(item, first_key);
#pragma unroll
    for (int at = 0; at < 32; ++at) {
      if (hidden >> at & 1) s[at / 4][at % 4] = -INFINITY;
    }
  }
  /// A bit for each of a lane's 32 logits. Not unrolled: few tiles need it, and it would take the
  /// registers that all need.
  __device__ __forceinline__ std::uint32_t hidden_keys(const SplitKvItem& item,
                                                       int first_key) const {
    const splitkv::LaneRows rows = splitkv::lane_rows(p_, item, warp_row_);
    std::uint32_t hidden = 0;
    for (int i = 0; i < 2; ++i) {
      const cuda::Visibility seen = cuda::visibility_of(rows.request, max(rows.token[i], 0));
#pragma unroll 1
      for (int at = 0; at < 16; ++at) {
        const int key = first_key + 8 * (at / 2) + 2 * (lane_ % 4) + at % 2;
        const bool hide = key < rows.begin[i] || key >= rows.end[i] ||
                          (rows.token[i] >= 0 && seen.tree_hides(key));
        hidden |= static_cast<std::uint32_t>(hide) << (4 * (at / 2) + 2 * i + at % 2);
      }
    }
    return hidden;
  }
  /// Highest logits of the lane's two rows.
  __device__ __forceinline__ static float2 top_of(const float (&s)[8][4]) {
    float top[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      top[i] = fmaxf(s[0][2 * i], s[0][2 * i + 1]);
#pragma unroll
      for (int n = 1; n < 8; ++n) top[i] = fmaxf(top[i], fmaxf(s[n][2 * i], s[n][2 * i + 1]));
      top[i] = fmaxf(top[i], __shfl_xor_sync(~0u, top[i], 1));
      top[i] = fmaxf(top[i], __shfl_xor_sync(~0u, top[i], 2));
    }
    return {top[0], top[1]};
  }
  /// The reference of a row after a tile whose highest logit is `top`.
  __device__ __forceinline__ static float raised(float reference, float top) {
    return top > reference + kSlack ? top : reference;
  }
  /// What sums relative to `before` are to be multiplied by.
  __device__ __forceinline__ static float change(float before, float after) {
    return before == after ? 1.0f : cuda::exp2_approx(before - after);
  }
  /// Where store_matrices() puts columns 16 i and on of a tile [64, 64] of this warpgroup.
  __device__ __forceinline__ std::uint32_t own_weights(int i) const {
    return shared_.weights(kGroup) + (warp_row_ + lane_ % 16) * cuda::kSwizzledRowBytes +
           16 * ((2 * i + lane_ / 16) ^ (lane_ & 7));
  }
  /// Logits to weights, summed, packed as operand A and left for the other warpgroup.
  __device__ __forceinline__ void weigh(float (&s)[8][4], float factor,
                                        std::uint32_t (&weights)[4][4]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float reference = highest_[i] == -INFINITY ? 0.0f : highest_[i];  // no key seen yet
#pragma unroll
      for (int n = 0; n < 8; ++n) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          float& x = s[n][2 * i + j];
          x = cuda::exp2_approx(fmaf(x, factor, -reference));
          sum_[i] += x;
        }
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      weights[i][0] = cuda::pack2<T>(s[2 * i][0], s[2 * i][1]);
      weights[i][1] = cuda::pack2<T>(s[2 * i][2], s[2 * i][3]);
      weights[i][2] = cuda::pack2<T>(s[2 * i + 1][0], s[2 * i + 1][1]);
      weights[i][3] = cuda::pack2<T>(s[2 * i + 1][2], s[2 * i + 1][3]);
      store_matrices(own_weights(i), weights[i]);
    }
    cuda::fence_proxy_async();
  }
  __device__ __forceinline__ static void multiply(float (&out)[32][4], const float (&by)[2]) {
    if (!__any_sync(~0u, by[0] != 1.0f || by[1] != 1.0f)) return;
#pragma unroll
    for (auto& columns : out) {
      columns[0] *= by[0];
      columns[1] *= by[0];
      columns[2] *= by[1];
      columns[3] *= by[1];
    }
  }
  /// Takes over references that the other warpgroup raised.
  __device__ __forceinline__ void follow(int tile, float (&by)[2]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float now = shared_.highest(tile)[row(i)];
      by[i] = change(highest_[i], now);
      highest_[i] = now;
      sum_[i] *= by[i];
    }
  }
  /// Raises references where this tile's logits ask for it, and tells the other warpgroup.
  __device__ __forceinline__ void raise(float2 top, float factor, float (&by)[2]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float now = raised(highest_[i], (i == 0 ? top.x : top.y) * factor);
      by[i] = change(highest_[i], now);
      highest_[i] = now;
      sum_[i] *= by[i];
      if (lane_ % 4 == 0) shared_.highest(kGroup)[row(i)] = now;
    }
  }

  // Matrix instructions of the next step's logits are started before those of this step's output
  // are done. ptxas serialises them all where some are under way around the end of a loop.
  __device__ __forceinline__ void attend_first(const SplitKvItem& item, Clear clear,
                                               float (&out)[32][4]) {
    const int steps = steps_of(item);
    float s[8][4];
    await(kLeft0);
    start_qk<false>(s, 0, false);
    await(kRight0);
    start_qk<true>(s, 0, true);
    cuda::wgmma_wait<0>();
    pin_registers(s);
    for (int step = 0; step < steps; ++step) {
      const bool last = step + 1 == steps;
      release(shared_.q_empty(), last);
      float by[2];
      const float factor = finish_logits(s, item, item.key_begin + step * kStepKeys, clear);
      raise(top_of(s), factor, by);
      std::uint32_t weights[4][4];
      weigh(s, factor, weights);
      cuda::named_arrive(kWeights0, kPairThreads);
      multiply(out, by);
      start_pv(out, weights, 0);
      cuda::wgmma_wait<0>();
      pin_registers(out);
      release(shared_.empty(kLeft0));
      cuda::named_sync(kWeights1, kPairThreads);
      follow(1, by);
      multiply(out, by);
      start_pv_shared(out, 1);
      phase_ ^= 1;
      if (!last) {
        await(kLeft0);
        start_qk<false>(s, 0, false);
        cuda::wgmma_wait<1>();
        release(shared_.empty(kLeft1));
        await(kRight0);
        start_qk<true>(s, 0, true);
      }
      cuda::wgmma_wait<0>();
      pin_registers(s);
      pin_registers(out);
      release(shared_.empty(kLeft1), last);
    }
  }

  __device__ __forceinline__ void attend_second(const SplitKvItem& item, Clear clear,
                                                float (&out)[32][4]) {
    const int steps = steps_of(item);
    for (int step = 0; step < steps; ++step) {
      float s[8][4];
      await(kLeft1);
      start_qk<false>(s, 1, false);
      await(kRight1);
      start_qk<true>(s, 1, true);
      cuda::wgmma_wait<0>();
      pin_registers(s);
      release(shared_.q_empty(), step + 1 == steps);
      const float factor =
          finish_logits(s, item, item.key_begin + step * kStepKeys + kTileKeys, clear);
      const float2 top = top_of(s);
      cuda::named_sync(kWeights0, kPairThreads);
      float by[2];
      follow(0, by);
      multiply(out, by);
      start_pv_shared(out, 0);  // while this warpgroup makes its weights
      raise(top, factor, by);
      std::uint32_t weights[4][4];
      weigh(s, factor, weights);
      cuda::named_arrive(kWeights1, kPairThreads);
      cuda::wgmma_wait<0>();
      pin_registers(out);
      release(shared_.empty(kRight0));
      multiply(out, by);
      start_pv(out, weights, 1);
      phase_ ^= 1;
      cuda::wgmma_wait<0>();
      pin_registers(out);
      release(shared_.empty(kRight1));
    }
  }

  /// Normalises and stores.
  __device__ __forceinline__ void finish(const SplitKvItem& item, bool odd, float (&out)[32][4]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      sum_[i] += __shfl_xor_sync(~0u, sum_[i], 1);
      sum_[i] += __shfl_xor_sync(~0u, sum_[i], 2);
      if (lane_ % 4 == 0) shared_.sums(kGroup, odd)[row(i)] = sum_[i];
    }
    cuda::named_sync(kBothGroups, kPairThreads);
    float share[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float total = shared_.sums(0, odd)[row(i)] + shared_.sums(1, odd)[row(i)];
      const float lse = total > 0 ? highest_[i] + log2f(total) : -INFINITY;
      share[i] = total > 0 ? 1.0f / total : 0.0f;
      if (row(i) >= item.rows) continue;
      if (item.splits > 1) {
        if (kGroup == 0 && lane_ % 4 == 0) p_.partial_lse[partial_row(item, row(i))] = lse;
        continue;
      }
      splitkv::LseMerge merge = splitkv::with_sink(p_, item, row(i));
      merge.add(lse);
      share[i] *= merge.weight(lse) * p_.v_scale;
      if (kGroup == 0 && lane_ % 4 == 0) {
        const RowPlace place = place_of(item, row(i));
        *reinterpret_cast<float*>(p_.lse + place.token * p_.lse_token_stride +
                                  place.head * p_.lse_head_stride) = merge.lse() * cuda::kLn2;
      }
    }
    multiply(out, share);
    if (item.splits > 1) {
      store_partial(item, out);
    } else {
      store_output(item, out);
    }
  }

  struct RowPlace {
    std::int64_t token;
    int head;
  };
  __device__ __forceinline__ RowPlace place_of(const SplitKvItem& item, int row) const {
    const int index = item.row_begin + row;
    return {static_cast<std::int64_t>(item.q_begin) + index / p_.group, index % p_.group};
  }
  __device__ __forceinline__ std::int64_t partial_row(const SplitKvItem& item, int row) const {
    return static_cast<std::int64_t>(item.partial) * p_.partial_rows +
           static_cast<int>(blockIdx.x) % p_.lanes * kRows + row;
  }

  /// 64 columns at a time through shared memory, where this warpgroup's weights were: a warp writes
  /// whole lines of its rows.
  __device__ __forceinline__ void store_output(const SplitKvItem& item,
                                               const float (&out)[32][4]) const {
    std::byte* to[4];  // rows lane / 8 and every fourth from there
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = warp_row_ + 4 * i + lane_ / 8;
      const RowPlace place = place_of(item, min(row, item.rows - 1));
      to[i] = row < item.rows
                  ? p_.out + place.token * p_.out_token_stride + place.head * p_.out_head_stride +
                        2 * kGroup * kHalfDims + 16 * (lane_ % 8)
                  : nullptr;
    }
#pragma unroll
    for (int block = 0; block < kHalfBlocks; ++block) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&low)[4] = out[8 * block + 2 * i];
        const float(&high)[4] = out[8 * block + 2 * i + 1];
        const std::uint32_t words[4] = {
            cuda::pack2<T>(low[0], low[1]), cuda::pack2<T>(low[2], low[3]),
            cuda::pack2<T>(high[0], high[1]), cuda::pack2<T>(high[2], high[3])};
        store_matrices(own_weights(i), words);
      }
      __syncwarp();
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = warp_row_ + 4 * i + lane_ / 8;
        const auto* const from = reinterpret_cast<const uint4*>(
            shared_.bytes + Shared::kWeightsAt + kGroup * kBlockBytes +
            row * cuda::kSwizzledRowBytes + 16 * (lane_ % 8 ^ (row & 7)));
        if (to[i] != nullptr) {
          *reinterpret_cast<uint4*>(to[i] + block * cuda::kSwizzledRowBytes) = *from;
        }
      }
      __syncwarp();
    }
  }
  __device__ __forceinline__ void store_partial(const SplitKvItem& item,
                                                const float (&out)[32][4]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (row(i) >= item.rows) continue;
      float* const to =
          p_.partial_out + partial_row(item, row(i)) * kDv + kGroup * kHalfDims + 2 * (lane_ % 4);
#pragma unroll
      for (int n = 0; n < 32; ++n) {
        *reinterpret_cast<float2*>(to + 8 * n) = {out[n][2 * i], out[n][2 * i + 1]};
      }
    }
  }

  const MlaParams& p_;
  Shared shared_;
  int lane_;
  int warp_row_;
  std::uint32_t rope_[4][4];
  float highest_[2];  ///< what weights are relative to, in the log2 domain
  float sum_[2];      ///< of this warpgroup's weights; of this lane's columns until finish()
  int phase_ = 0;     ///< steps so far, modulo 2
};

}  // namespace attnbench::mla::hopper
