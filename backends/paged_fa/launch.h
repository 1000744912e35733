// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/paged_fa/kernel_params.h"
#include "lib/base/dtype.h"

namespace attnbench {

/// Query rows of a thread block's tile.
enum class PagedFaTile : std::int32_t { kFew = 16, kSome = 64, kMany = 128 };

/// What selects a compiled kernel.
struct PagedFaKernel {
  DType dtype = DType::kBF16;  ///< of q
  DType kv_dtype = DType::kBF16;
  int head_dim_k = 0;
  int head_dim_v = 0;
  PagedFaTile tile = PagedFaTile::kFew;
};

/// Whether there is such a kernel.
[[nodiscard]] bool paged_fa_has_kernel(const PagedFaKernel& kernel);

/// Raises the kernel's shared memory limit; once before the first launch, outside of any capture.
void prepare_paged_fa(const PagedFaKernel& kernel);

/// Enqueues one kernel on a cudaStream_t: a block per item and KV head. Items are tiles of at most
/// kernel.tile rows.
void launch_paged_fa(const PagedFaKernel& kernel, const PagedFaParams& params, void* stream);

}  // namespace attnbench
