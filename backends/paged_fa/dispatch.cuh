// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/paged_fa/kernel_params.h"
#include "backends/paged_fa/launch.h"
#include "backends/paged_fa/tensor_map.cuh"

namespace attnbench::paged_fa {

struct CompiledKernel {
  void (*function)(Params) = nullptr;  ///< null: there is none
  int threads = 0;
  int shared_bytes = 0;
};

// One translation unit each, because compiling takes a while: tiles of 16 and 64 rows by pair of
// types, those of 128 rows by type.
[[nodiscard]] CompiledKernel bf16_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel bf16_e4m3_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel bf16_e5m2_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel f16_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel f16_e4m3_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel f16_e5m2_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel bf16_many_rows_kernel(const Kernel& kernel);
[[nodiscard]] CompiledKernel f16_many_rows_kernel(const Kernel& kernel);

/// Tiles of 128 rows for a GPU with wgmma; no draft trees. Blocks take items until none is left.
struct HopperKernel {
  void (*function)(Params, PageMaps) = nullptr;
  int threads = 0;
  int shared_bytes = 0;
};
[[nodiscard]] HopperKernel hopper_kernel(const Kernel& kernel);

}  // namespace attnbench::paged_fa
