// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/ldmatrix.cuh"
#include "backends/mla/wgmma_softmax.cuh"

namespace attnbench::mla::hopper {

/// One of the two warpgroups that compute. Both have the same 64 rows; the first (kGroup 0) takes
/// the logits of each pair's first tile and the left half of the output, the second the others.
template <class T, int kGroup, class Form>
class Consumer {
 public:
  __device__ __forceinline__ Consumer(const Params& p, Shared shared) : p_(p), shared_(shared) {}

  __device__ __forceinline__ void run() {
    WorkList work(p_);
    Item item;
    for (int count = 0; work.take(item); ++count) {
      if constexpr (Form::kRope) load_rope(item);
      Softmax<T, kGroup, Form> softmax(p_, shared_, item);
      float out[32][4] = {};
      cuda::mbarrier_wait(shared_.q_full(), count & 1);
      if constexpr (kGroup == 0) {
        attend_first(item, softmax, out);
      } else {
        attend_second(item, softmax, out);
      }
      Store<T, kGroup, Form>(p_, shared_).finish(item, count % 2 == 1, softmax, out);
    }
  }

 private:
  /// The rope columns of the queries as operand A; there is no room for them in shared memory.
  __device__ __forceinline__ void load_rope(const Item& item) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const bool real = lane_.row(i) < item.rows;
      const int index = item.row_begin + (real ? lane_.row(i) : 0);
      const std::byte* const from =
          p_.q + static_cast<std::int64_t>(item.q_begin + index / p_.group) * p_.q_token_stride +
          index % p_.group * p_.q_head_stride + 2 * kDv + 4 * (lane_.index % 4);
#pragma unroll
      for (int at = 0; at < 8; ++at) {
        rope_[at / 2][i + 2 * (at % 2)] =
            real ? __ldg(reinterpret_cast<const std::uint32_t*>(from + 16 * at)) : 0u;
      }
    }
  }

  // Parts of tiles: await() waits until one is copied, release() lets it be overwritten.
  __device__ __forceinline__ void await(Part part) const {
    cuda::mbarrier_wait(shared_.full(part), phase_);
    cuda::fence_proxy_async();  // what cp.async wrote, for the tensor cores
  }
  /// Without a branch: ptxas serialises matrix instructions that are on their way across one.
  __device__ __forceinline__ void release(std::uint32_t empty, bool really = true) const {
    asm volatile(
        "{\n.reg .pred really;\nsetp.ne.b32 really, %1, 0;\n"
        "@really mbarrier.arrive.shared.b64 _, [%0];\n}\n" ::"r"(empty),
        "r"(static_cast<int>(really && lane_.index == 0))
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
      cuda::wgmma_m64n64k16<T>(s, a + at, b + at, add || i > 0);
    }
    if constexpr (kRight && Form::kRope) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        cuda::wgmma_m64n64k16<T>(s, rope_[i], b + ((2 * kHalfBlocks * kBlockBytes + i * 32) >> 4));
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
      cuda::wgmma_m64n256k16<T>(out, weights[i], b + ((2 * i * cuda::kSwizzledAtomBytes) >> 4));
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
      cuda::wgmma_m64n256k16<T>(out, a + (i * 32 >> 4),
                                b + ((2 * i * cuda::kSwizzledAtomBytes) >> 4), true);
    }
    cuda::wgmma_commit();
  }
  __device__ __forceinline__ std::uint64_t values(int tile) const {
    return here(cuda::wgmma_descriptor(shared_.tile(tile) + kGroup * kHalfBlocks * kBlockBytes,
                                       cuda::kSwizzledAtomBytes, kBlockBytes));
  }

  // Matrix instructions of the next step's logits are started before those of this step's output
  // are done. ptxas serialises them all where some are under way around the end of a loop.
  __device__ __forceinline__ void attend_first(const Item& item, Softmax<T, kGroup, Form>& softmax,
                                               float (&out)[32][4]) {
    const int steps = steps_of(item);
    float s[8][4];
    await(kLeft0);
    start_qk<false>(s, 0, false);
    await(kRight0);
    start_qk<true>(s, 0, true);
    cuda::wgmma_wait<0>();
    cuda::pin_registers(s);
    for (int step = 0; step < steps; ++step) {
      const bool last = step + 1 == steps;
      release(shared_.q_empty(), last);
      float by[2];
      const float factor = softmax.finish_logits(s, item.key_begin + step * kStepKeys);
      softmax.raise(softmax.top_of(s), factor, by);
      std::uint32_t weights[4][4];
      softmax.weigh(s, factor, weights);
      cuda::mbarrier_arrive(shared_.weights_full(0));
      multiply(out, by);
      start_pv(out, weights, 0);
      cuda::wgmma_wait<0>();
      cuda::pin_registers(out);
      release(shared_.empty(kLeft0));
      cuda::mbarrier_wait(shared_.weights_full(1), phase_);
      softmax.follow(1, by);
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
      cuda::pin_registers(s);
      cuda::pin_registers(out);
      release(shared_.empty(kLeft1), last);
    }
  }

  __device__ __forceinline__ void attend_second(const Item& item, Softmax<T, kGroup, Form>& softmax,
                                                float (&out)[32][4]) {
    const int steps = steps_of(item);
    for (int step = 0; step < steps; ++step) {
      float s[8][4];
      await(kLeft1);
      start_qk<false>(s, 1, false);
      await(kRight1);
      start_qk<true>(s, 1, true);
      cuda::wgmma_wait<0>();
      cuda::pin_registers(s);
      release(shared_.q_empty(), step + 1 == steps);
      const float factor = softmax.finish_logits(s, item.key_begin + step * kStepKeys + kTileKeys);
      const float2 top = softmax.top_of(s);
      cuda::mbarrier_wait(shared_.weights_full(0), phase_);
      float by[2];
      softmax.follow(0, by);
      multiply(out, by);
      start_pv_shared(out, 0);  // while this warpgroup makes its weights
      softmax.raise(top, factor, by);
      std::uint32_t weights[4][4];
      softmax.weigh(s, factor, weights);
      cuda::mbarrier_arrive(shared_.weights_full(1));
      cuda::wgmma_wait<0>();
      cuda::pin_registers(out);
      release(shared_.empty(kRight0));
      multiply(out, by);
      start_pv(out, weights, 1);
      phase_ ^= 1;
      cuda::wgmma_wait<0>();
      cuda::pin_registers(out);
      release(shared_.empty(kRight1));
    }
  }

  const Params& p_;
  Shared shared_;
  Lane lane_;
  std::uint32_t rope_[4][4];
  int phase_ = 0;  ///< steps so far, modulo 2
};

}  // namespace attnbench::mla::hopper
