// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/splitkv/work_list.h"
#include "lib/base/dtype.h"

namespace attnbench {

/// What selects a compiled kernel.
struct SplitKvKernel {
  DType dtype = DType::kBF16;  ///< of Q and O
  DType kv_dtype = DType::kBF16;
  int head_dim_k = 0;
  int head_dim_v = 0;
  bool many_rows = false;  ///< tiles of 64 rows, else of 16
};

inline constexpr std::int32_t kSplitKvFewRows = 16;
inline constexpr std::int32_t kSplitKvManyRows = 64;

/// Whether there is such a kernel.
[[nodiscard]] bool splitkv_has_kernel(const SplitKvKernel& kernel);

/// Raises the kernel's shared memory limit; once before the first launch, outside of any capture.
void prepare_splitkv(const SplitKvKernel& kernel);

/// Enqueues one kernel on a cudaStream_t: a block per item and KV head.
void launch_splitkv(const SplitKvKernel& kernel, const SplitKvParams& params, void* stream);

}  // namespace attnbench
