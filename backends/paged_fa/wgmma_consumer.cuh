// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/paged_fa/logits.cuh"
#include "backends/paged_fa/store.cuh"
#include "backends/paged_fa/wgmma_producer.cuh"

namespace attnbench::paged_fa::hopper {

// Named barriers: whose turn it is on the tensor cores, and all consumers.
inline constexpr int kTurn = 1;  // and the next
inline constexpr int kAllConsumers = 3;

/// One of the two warpgroups that compute: 64 rows. kSpans: of prompts with spans.
template <class T, class Tiles, bool kSpans>
class Consumer {
 public:
  __device__ __forceinline__ Consumer(const Params& p, int box_rows, Shared<Tiles> shared,
                                      int group)
      : p_(p), box_rows_(box_rows), shared_(shared), group_(group) {}

  __device__ __forceinline__ void run() {
    if (group_ == 1) cuda::named_arrive(kTurn, 2 * kGroupThreads);  // the other begins
    WorkPlace at;
    for (;; at.advance()) {
      cuda::mbarrier_wait(shared_.work_full(at.index), at.phase);
      const Item item = shared_.work[at.index].item;
      const int kv_head = shared_.work[at.index].kv_head;
      cuda::mbarrier_arrive(shared_.work_empty(at.index));
      if (kv_head < 0) return;
      if (item.rows == 0) continue;  // filled up for a CUDA graph
      Outputs out = {};
      float highest[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
      attend(item, out, highest, sum);
      store(item, kv_head, out, highest, sum);
      merge_pieces<T, kDv>(p_, item, kv_head, static_cast<int>(threadIdx.x) - kGroupThreads,
                           kConsumers * kGroupThreads, *shared_.merge,
                           [] { cuda::named_sync(kAllConsumers, kConsumers * kGroupThreads); });
    }
  }

 private:
  static constexpr int kStepKeys = Tiles::kStepKeys;
  static constexpr int kDv = Tiles::V::kDim;
  /// A thread's share of 64 rows: of kStepKeys logits each, the same as weights, and of outputs.
  using Logits = float[kStepKeys / 8][4];
  using Weights = std::uint32_t[kStepKeys / 16][4];
  using Outputs = float[kDv / 8][4];

  __device__ __forceinline__ void take_turn() const {
    cuda::named_sync(kTurn + group_, 2 * kGroupThreads);
  }
  __device__ __forceinline__ void pass_turn() const {
    cuda::named_arrive(kTurn + 1 - group_, 2 * kGroupThreads);
  }

  __device__ __forceinline__ void release_queries() {
    release(shared_.q_empty(q_.index, group_));
    q_.advance();
  }
  /// Whether some rows of a step were not copied by the copy engine.
  __device__ __forceinline__ bool copied_by_row(const Item& item, int first_key) const {
    return box_rows_ == 1 || first_key + kStepKeys > item.key_end;
  }
  /// Waits for a tile; what threads wrote has to be made visible to the matrix instructions.
  __device__ __forceinline__ static void await(std::uint32_t full, int phase, bool by_row) {
    cuda::mbarrier_wait(full, phase);
    if (by_row) cuda::fence_proxy_async();
  }

  __device__ __forceinline__ void start_qk(Logits& s, std::uint32_t k_tile) const {
    const std::uint32_t q = shared_.q(q_.index) + group_ * 64 * cuda::kSwizzledRowBytes;
    const std::uint64_t a = cuda::wgmma_descriptor(q, cuda::kSwizzledAtomBytes, 16);
    const std::uint64_t b = cuda::wgmma_descriptor(k_tile, cuda::kSwizzledAtomBytes, 16);
    cuda::wgmma_fence();
#pragma unroll
    for (int i = 0; i < Tiles::K::kDim / 16; ++i) {
      const int of_q = (i / 4 * Tiles::Q::kBlockBytes + i % 4 * 32) >> 4;
      const int of_k = (i / 4 * Tiles::K::kBlockBytes + i % 4 * 32) >> 4;
      if constexpr (kStepKeys == 64) {
        cuda::wgmma_m64n64k16<T>(s, a + of_q, b + of_k, i > 0);
      } else {
        cuda::wgmma_m64n128k16<T>(s, a + of_q, b + of_k, i > 0);
      }
    }
    cuda::wgmma_commit();
  }
  __device__ __forceinline__ static void start_pv(Outputs& out, const Weights& weights,
                                                  std::uint32_t v_tile) {
    const std::uint64_t b =
        cuda::wgmma_descriptor(v_tile, cuda::kSwizzledAtomBytes, Tiles::V::kBlockBytes);
    cuda::wgmma_fence();
#pragma unroll
    for (int i = 0; i < kStepKeys / 16; ++i) {
      const int at = (2 * i * cuda::kSwizzledAtomBytes) >> 4;
      if constexpr (kDv == 64) {
        cuda::wgmma_m64n64k16_across<T>(out, weights[i], b + at);
      } else if constexpr (kDv == 128) {
        cuda::wgmma_m64n128k16<T>(out, weights[i], b + at);
      } else {
        cuda::wgmma_m64n256k16<T>(out, weights[i], b + at);
      }
    }
    cuda::wgmma_commit();
  }

  /// Hides what this thread's rows must not see, and keys that belong to another piece.
  __device__ __forceinline__ void hide(Logits& s, const Item& item, int first_key) const {
    cuda::RequestGeometry request = geometry_of(p_, item.sequence);
    request.mask = nullptr;
    const int first_column = first_key + 2 * static_cast<int>(threadIdx.x % 4);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      // Rows beyond the tile are computed like its last and never stored.
      const int token = (item.row_begin + min(row(i), item.rows - 1)) / p_.group;
      const cuda::Visibility seen = seen_by<kSpans>(p_, item, request, token);
      const int begin = max(seen.begin, item.key_begin) - first_column;
      const int end = min(seen.end, item.key_end) - first_column;
#pragma unroll
      for (int n = 0; n < kStepKeys / 8; ++n) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          if (8 * n + j < begin || 8 * n + j >= end) s[n][2 * i + j] = -INFINITY;
        }
      }
    }
  }

  /// Logits to weights; `rescale` is for what was summed before.
  __device__ __forceinline__ void soften(Logits& s, const Item& item, int first_key,
                                         float (&highest)[2], float (&sum)[2],
                                         float (&rescale)[2]) const {
    float factor = p_.scale * cuda::kLog2e;
    if (p_.softcap > 0) {
      factor = 1;
      cap_logits(s, p_, p_.scale);
    }
    if (first_key < max(item.full_begin, item.key_begin) || first_key + kStepKeys > item.full_end) {
      hide(s, item, first_key);
    }
    float top[2][2] = {{s[0][0], s[0][1]}, {s[0][2], s[0][3]}};
#pragma unroll
    for (int n = 1; n < kStepKeys / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) top[i / 2][i % 2] = fmaxf(top[i / 2][i % 2], s[n][i]);
    }
    float base[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float x = fmaxf(top[i][0], top[i][1]);
      x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
      x = fmaxf(x, __shfl_xor_sync(~0u, x, 2));
      x = fmaxf(highest[i], x * factor);
      base[i] = x == -INFINITY ? 0.0f : x;  // no key seen yet: weights are 0
      rescale[i] = cuda::exp2_approx(highest[i] - base[i]);
      highest[i] = x;
    }
    float added[4] = {};
#pragma unroll
    for (int n = 0; n < kStepKeys / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        s[n][i] = cuda::exp2_approx(fmaf(s[n][i], factor, -base[i / 2]));
        added[i] += s[n][i];
      }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) sum[i] = fmaf(sum[i], rescale[i], added[2 * i] + added[2 * i + 1]);
  }

  __device__ __forceinline__ static void pack(Weights& weights, const Logits& s) {
#pragma unroll
    for (int i = 0; i < kStepKeys / 16; ++i) {
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
  /// warpgroup runs. (The assembler moves this one's softmax behind the wait for the output; held
  /// before it, it was slower.)
  __device__ __forceinline__ void attend(const Item& item, Outputs& out, float (&highest)[2],
                                         float (&sum)[2]) {
    const int steps = steps_of<kStepKeys>(item, box_rows_);
    int key = first_key_of(item, box_rows_);
    Logits s;
    Weights weights;
    float rescale[2];

    cuda::mbarrier_wait(shared_.q_full(q_.index, group_), q_.phase);
    await(shared_.k_full(k_.index), k_.phase, true);
    start_qk(s, shared_.k(k_.index));
    cuda::wgmma_wait<0>();
    cuda::pin_registers(s);
    release(shared_.k_empty(k_.index));
    k_.advance();
    if (steps == 1) release_queries();
    soften(s, item, key, highest, sum, rescale);
    pack(weights, s);

    for (int i = 1; i < steps; ++i) {
      key += kStepKeys;
      await(shared_.k_full(k_.index), k_.phase, copied_by_row(item, key));
      take_turn();
      start_qk(s, shared_.k(k_.index));
      await(shared_.v_full(v_.index), v_.phase, box_rows_ == 1);
      start_pv(out, weights, shared_.v(v_.index));
      pass_turn();
      cuda::wgmma_wait<1>();
      cuda::pin_registers(s);
      release(shared_.k_empty(k_.index));
      k_.advance();
      if (i + 1 == steps) release_queries();
      soften(s, item, key, highest, sum, rescale);
      cuda::wgmma_wait<0>();
      cuda::pin_registers(out);
      release(shared_.v_empty(v_.index));
      v_.advance();
      pack(weights, s);
#pragma unroll
      for (auto& columns : out) {
        columns[0] *= rescale[0];
        columns[1] *= rescale[0];
        columns[2] *= rescale[1];
        columns[3] *= rescale[1];
      }
    }
    await(shared_.v_full(v_.index), v_.phase, copied_by_row(item, key));
    start_pv(out, weights, shared_.v(v_.index));
    cuda::wgmma_wait<0>();
    cuda::pin_registers(out);
    release(shared_.v_empty(v_.index));
    v_.advance();
#pragma unroll
    for (float& x : sum) {
      x += __shfl_xor_sync(~0u, x, 1);
      x += __shfl_xor_sync(~0u, x, 2);
    }
  }

  /// Four lanes have a row together, two columns of each eight; they trade so that each writes 16
  /// bytes at a time.
  __device__ __forceinline__ void store_whole(const Item& item, int kv_head, const Outputs& out,
                                              const float (&highest)[2],
                                              const float (&sum)[2]) const {
    const int pair = static_cast<int>(threadIdx.x % 4);
    const bool odd = pair % 2 != 0, upper = pair / 2 != 0;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const RowPlace place = place_of(p_, item, kv_head, min(row(i), item.rows - 1));
      const RowEnd end = end_of_row(highest[i], sum[i], cuda::sink_of(p_, place.head));
      const float weight = end.weight * p_.v_scale;
      const bool real = row(i) < item.rows;
      std::byte* const to = cuda::out_row(p_, place);
#pragma unroll
      for (int n = 0; n < kDv / 8; n += 4) {
        std::uint32_t x[4];
#pragma unroll
        for (int m = 0; m < 4; ++m) {
          x[m] = cuda::pack2<T>(out[n + m][2 * i] * weight, out[n + m][2 * i + 1] * weight);
        }
        trade(x[0], x[1], odd, 1);
        trade(x[2], x[3], odd, 1);
        trade(x[0], x[2], upper, 2);
        trade(x[1], x[3], upper, 2);
        if (real) *reinterpret_cast<uint4*>(to + 16 * (n + pair)) = {x[0], x[1], x[2], x[3]};
      }
      if (real && pair == 0) cuda::store_lse(p_, place, end.lse);
    }
  }
  /// Between two lanes: the lower gives `high` for the other's `low`.
  __device__ __forceinline__ static void trade(std::uint32_t& low, std::uint32_t& high, bool upper,
                                               int distance) {
    const std::uint32_t got = __shfl_xor_sync(~0u, upper ? low : high, distance);
    (upper ? low : high) = got;
  }

  __device__ __forceinline__ void store(const Item& item, int kv_head, const Outputs& out,
                                        const float (&highest)[2], const float (&sum)[2]) const {
    const bool in_fp8 =
        size_bytes(p_.out_dtype) == 1;  // whose 16 bytes are of more lanes than four
    if (item.splits == 1 && !in_fp8) return store_whole(item, kv_head, out, highest, sum);
    const int pair = static_cast<int>(threadIdx.x % 4);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (row(i) >= item.rows) continue;
      const RowStore<T, kDv> store(p_, item, kv_head, row(i), highest[i], sum[i]);
#pragma unroll
      for (int n = 0; n < kDv / 8; ++n) {
        float run[2] = {out[n][2 * i], out[n][2 * i + 1]};
        store.values(8 * n + 2 * pair, run);
      }
      if (pair == 0) store.lse();
    }
  }

  const Params& p_;
  int box_rows_;
  Shared<Tiles> shared_;
  int group_;
  StagePlace k_, v_;
  Place<Tiles::kQueryPlaces> q_;
};

}  // namespace attnbench::paged_fa::hopper
