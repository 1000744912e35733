// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstdint>

// The copy engine of sm_90 (PTX ISA, "cp.async.bulk.tensor").
namespace attnbench::cuda {

/// Starts copying the box of a four-dimensional tensor that begins at element (x, y, z, w) into
/// shared memory; its bytes count as arrivals on `barrier`. `map` is a kernel parameter or in
/// global memory. One thread does this.
__device__ __forceinline__ void copy_box(std::uint32_t shared, const CUtensorMap& map, int x, int y,
                                         int z, int w, std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6}], [%2];\n" ::"r"(shared),
      "l"(reinterpret_cast<std::uint64_t>(&map)), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w)
      : "memory");
}

/// Asks for the map itself ahead of its first use.
__device__ __forceinline__ void prefetch_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];\n" ::"l"(reinterpret_cast<std::uint64_t>(&map))
               : "memory");
}

}  // namespace attnbench::cuda
