// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cooperative_groups.h>

namespace attnbench::cuda {

/// Blocks that run at the same time and reach each other's shared memory: a thread block cluster,
/// from compute capability 9.0 on. A block of a launch without clusters is one by itself.
struct Cluster {
  int blocks = 1, rank = 0;

  /// The one that the kernel was launched with.
  [[nodiscard]] __device__ static Cluster of_this_block() {
#if __CUDA_ARCH__ >= 900
    using Blocks = cooperative_groups::cluster_group;
    return {static_cast<int>(Blocks::num_blocks()), static_cast<int>(Blocks::block_rank())};
#else
    return {};
#endif
  }

  /// Waits for all threads of all blocks; what they wrote can be read then.
  __device__ void sync() const {
#if __CUDA_ARCH__ >= 900
    if (blocks > 1) {
      cooperative_groups::cluster_group::sync();
      return;
    }
#endif
    __syncthreads();
  }

  /// The variable in shared memory as the block `of` has it. No block may end while another one
  /// still reads or writes its variables.
  template <class T>
  [[nodiscard]] __device__ T& shared_of(int of, T& own) const {
#if __CUDA_ARCH__ >= 900
    if (blocks > 1) return *cooperative_groups::cluster_group::map_shared_rank(&own, of);
#endif
    static_cast<void>(of);
    return own;
  }
};

}  // namespace attnbench::cuda
