// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/mla/dispatch.cuh"
#include "backends/mla/wgmma_consumer.cuh"
#include "backends/mla/wgmma_producer.cuh"

namespace attnbench::mla::hopper {

/// p.lanes blocks for every part of the work list: one block per multiprocessor.
template <class T, class Kv, bool kPlain, bool kFp8Out, bool kRope = true>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_kernel([[maybe_unused]] const __grid_constant__ Params p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ std::byte dynamic[];
  const std::uint32_t base = (cuda::shared_address(dynamic) + 1023) & ~1023u;
  const Shared shared{base, dynamic + (base - cuda::shared_address(dynamic))};
  if (threadIdx.x == 0) {
    constexpr int kWarps = kGroupThreads / 32;
    cuda::mbarrier_init(shared.q_full(), kGroupThreads);
    cuda::mbarrier_init(shared.q_empty(), 2 * kWarps);
    cuda::mbarrier_init(shared.weights_full(0), kGroupThreads);
    cuda::mbarrier_init(shared.weights_full(1), kGroupThreads);
    cuda::mbarrier_init(shared.sums_full(), kPairThreads);
    for (int part = 0; part < kParts; ++part) {
      cuda::mbarrier_init(shared.full(part), kGroupThreads);
      cuda::mbarrier_init(shared.empty(part), kWarps);
    }
  }
  __syncthreads();
  const int group = static_cast<int>(threadIdx.x) / kGroupThreads;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kProducerRegisters));
    Producer<T, Kv, kRope>(p, shared).run();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kConsumerRegisters));
    using Form = KernelForm<!std::is_same_v<T, Kv>, kPlain, kFp8Out, kRope>;
    if (group == 1) {
      Consumer<T, 0, Form>(p, shared).run();
    } else {
      Consumer<T, 1, Form>(p, shared).run();
    }
  }
  cuda::await_previous();  // of a block without items
#endif
}

}  // namespace attnbench::mla::hopper

namespace attnbench::mla {

template <class T, class Kv>
CompiledKernel find_warpgroup_kernel(const Kernel& kernel) {
  if (!kernel.rope) {
    if constexpr (std::is_same_v<T, Kv>) {
      if (kernel.fp8_out) return {};
      return {kernel.plain ? hopper::wgmma_kernel<T, Kv, true, false, false>
                           : hopper::wgmma_kernel<T, Kv, false, false, false>,
              hopper::kThreads, hopper::Shared::kBytes};
    }
    return {};
  }
  return {kernel.fp8_out ? hopper::wgmma_kernel<T, Kv, false, true>
          : kernel.plain ? hopper::wgmma_kernel<T, Kv, true, false>
                         : hopper::wgmma_kernel<T, Kv, false, false>,
          hopper::kThreads, hopper::Shared::kBytes};
}

}  // namespace attnbench::mla
