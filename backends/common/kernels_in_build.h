// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace attnbench {

/// False in a build with ATTNBENCH_KERNELS=ci, which compiles few of the CUDA kernels: bf16 with a
/// cache in bf16 or e4m3 and, but for MLA, head dim 128. backends/kernel_units.cmake leaves out the
/// others, so code that chooses a kernel may name them only under `if constexpr (kAllKernels)`.
#ifdef ATTNBENCH_KERNELS_CI
inline constexpr bool kAllKernels = false;
#else
inline constexpr bool kAllKernels = true;
#endif

/// Why a backend has no kernel for a case. `kernels` describes the kernels of a full build.
[[nodiscard]] inline std::string no_kernel_reason(std::string kernels,
                                                  bool all_kernels = kAllKernels) {
  if (all_kernels) return kernels;
  return kernels +
         "; not all are in this build (ATTNBENCH_KERNELS=ci): bf16 with a cache in bf16 or "
         "e4m3; head dim 128 or MLA";
}

}  // namespace attnbench
