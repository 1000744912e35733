// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/flash_kernels.h"

#include "backends/common/vector_targets.h"
#include "lib/base/error.h"

// This file is compiled once for each instruction set; the table at its end names them all.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu_flash/flash_kernels.cpp"
#include <hwy/foreach_target.h>
// After the instruction set is chosen.
#include "backends/cpu_flash/run_tile-inl.h"

#if HWY_ONCE
namespace attnbench::cpu_flash {

const Kernels& kernels_for(CpuTarget target) {
  switch (target) {
#if HWY_TARGETS & HWY_AVX2
    case CpuTarget::kAvx2: {
      static constexpr Kernels kKernels{N_AVX2::kLanes, false, N_AVX2::run_tile};
      return kKernels;
    }
#endif
#if HWY_TARGETS & HWY_AVX3
    case CpuTarget::kAvx512: {
      static constexpr Kernels kKernels{N_AVX3::kLanes, false, N_AVX3::run_tile};
      return kKernels;
    }
    case CpuTarget::kAvx512Bf16: {
      static constexpr Kernels kKernels{N_AVX3::kLanes, true, N_AVX3::run_tile};
      return kKernels;
    }
#endif
#if HWY_TARGETS & HWY_NEON
    case CpuTarget::kNeon: {
      static constexpr Kernels kKernels{N_NEON::kLanes, false, N_NEON::run_tile};
      return kKernels;
    }
#endif
    default:
      throw InternalError("no kernels of another architecture");
  }
}

}  // namespace attnbench::cpu_flash
#endif
