// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Barriers in shared memory (sm_80; waiting without spinning, sm_90), and named ones.
namespace attnbench::cuda {

/// Its phase, 0 at first, ends after `arrivals`. One thread does this, before a block's barrier.
__device__ __forceinline__ void mbarrier_init(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;\n" ::"r"(barrier), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void mbarrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];\n" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void mbarrier_arrive(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0], %1;\n" ::"r"(barrier), "r"(arrivals)
               : "memory");
}
/// Arrives, and has the phase also wait for `bytes` that the copy engine brings.
__device__ __forceinline__ void mbarrier_arrive_expect(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;\n" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Returns once a phase of this parity has ended; that before the first counts as one of parity 1.
__device__ __forceinline__ void mbarrier_wait(std::uint32_t barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
      "@!done bra again;\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
/// Whether it would return at once.
__device__ __forceinline__ bool mbarrier_is_over(std::uint32_t barrier, int parity) {
  int over;
  asm volatile(
      "{\n.reg .pred over;\n"
      "mbarrier.test_wait.parity.shared.b64 over, [%1], %2;\n"
      "selp.s32 %0, 1, 0, over;\n}\n"
      : "=r"(over)
      : "r"(barrier), "r"(parity)
      : "memory");
  return over != 0;
}
/// Makes this thread's writes to shared memory visible to matrix instructions and the copy engine.
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
}

/// Named barrier `id` (1..15; 0 is __syncthreads) of `threads` threads: waits for the others, or
/// only counts as there.
__device__ __forceinline__ void named_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;\n" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void named_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;\n" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace attnbench::cuda
