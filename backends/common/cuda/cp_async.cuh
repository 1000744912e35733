// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench::cuda {

/// Copies 16 bytes from global to shared memory without registers and without first-level cache;
/// both addresses are multiples of 16. With valid = false it writes zeros and reads nothing.
__device__ __forceinline__ void cp_async_16(std::uint32_t shared, const void* global, bool valid) {
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n" ::"r"(shared),
               "l"(global), "r"(bytes)
               : "memory");
}

/// The same of 8 or 4 bytes and multiples of them, by way of the first-level cache.
__device__ __forceinline__ void cp_async_8(std::uint32_t shared, const void* global, bool valid) {
  const int bytes = valid ? 8 : 0;
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8, %2;\n" ::"r"(shared), "l"(global),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void cp_async_4(std::uint32_t shared, const void* global, bool valid) {
  const int bytes = valid ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(shared), "l"(global),
               "r"(bytes)
               : "memory");
}

/// Closes the group of this thread's copies since the last commit.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

/// Waits until at most `pending` of this thread's groups are unfinished. Other threads see the data
/// after a barrier.
template <int pending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(pending) : "memory");
}

/// Has the mbarrier count one of its arrivals when this thread's copies so far are done.
__device__ __forceinline__ void cp_async_arrive(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];\n" ::"r"(barrier) : "memory");
}

}  // namespace attnbench::cuda
