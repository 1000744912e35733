// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/splitkv/work_list.h"
#include "lib/base/dtype.h"

namespace attnbench::splitkv {

/// What selects a compiled kernel.
struct Kernel {
  DType dtype = DType::kBF16;  ///< of Q and O
  DType kv_dtype = DType::kBF16;
  int head_dim_k = 0;
  int head_dim_v = 0;
  bool many_rows = false;  ///< tiles of 64 rows, else of 16
};

inline constexpr std::int32_t kFewRows = 16;
inline constexpr std::int32_t kManyRows = 64;

/// Whether there is such a kernel.
[[nodiscard]] bool has_kernel(const Kernel& kernel);

/// Raises the kernel's shared memory limit; once before the first launch, outside of any capture.
void prepare(const Kernel& kernel);

/// Enqueues one kernel on a cudaStream_t: a block per item and KV head.
void launch(const Kernel& kernel, const Params& params, void* stream);

}  // namespace attnbench::splitkv
