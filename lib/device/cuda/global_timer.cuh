// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench {

#ifdef __CUDACC__
/// Nanoseconds, the same for all SMs; its step is 32 ns to 1 us, by the GPU.
__device__ inline std::uint64_t global_timer_ns() {
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}
#endif

}  // namespace attnbench
