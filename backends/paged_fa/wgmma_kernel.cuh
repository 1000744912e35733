// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/cuda/kernel_choice.cuh"
#include "backends/paged_fa/dispatch.cuh"
#include "backends/paged_fa/wgmma_consumer.cuh"

// Prompt tiles on Hopper, after FlashAttention-3 (Shah et al., 2024): one warpgroup copies pages
// into shared memory; two have 64 rows each and work on the tensor cores and on the softmax in
// turns.

namespace attnbench::paged_fa::hopper {

// Of a thread: 128 that copy and 256 that compute share what 384 of 168 were launched with.
template <int kDv>
inline constexpr int kProducerRegisters = kDv > 128 ? 56 : 72;
template <int kDv>
inline constexpr int kConsumerRegisters = kDv > 128 ? 224 : 216;

/// As many blocks as multiprocessors; each takes items until there are no more.
template <class T, int kDk, int kDv, bool kSpans>
__global__ void __launch_bounds__(kThreads, 1)
    wgmma_kernel([[maybe_unused]] const __grid_constant__ Params p,
                 [[maybe_unused]] const __grid_constant__ PageMaps maps) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ std::byte dynamic[];
  using Tiles = hopper::Tiles<kDk, kDv>;
  const Shared<Tiles> shared(dynamic);
  if (threadIdx.x == 0) shared.init_barriers();
  __syncthreads();
  const int group = static_cast<int>(threadIdx.x) / kGroupThreads;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kProducerRegisters<kDv>));
    Producer<Tiles>(p, maps, shared).run();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kConsumerRegisters<kDv>));
    Consumer<T, Tiles, kSpans>(p, maps.rows, shared, group - 1).run();
  }
#endif
}

}  // namespace attnbench::paged_fa::hopper

namespace attnbench::paged_fa {

/// Columns are copied and multiplied 64 at a time.
template <class T, bool kSpans>
HopperKernel find_hopper_kernel(const Kernel& kernel) {
  return cuda::for_head_dims(kernel.head_dim_k, kernel.head_dim_v,
                             [&]<int kDk, int kDv>() -> HopperKernel {
                               if constexpr (kDk % 64 == 0) {
                                 using Tiles = hopper::Tiles<kDk, kDv>;
                                 return {{hopper::wgmma_kernel<T, kDk, kDv, kSpans>,
                                          hopper::kThreads, hopper::Shared<Tiles>::kBytes},
                                         Tiles::K::kWarpRows};
                               }
                               return {};
                             });
}

}  // namespace attnbench::paged_fa
