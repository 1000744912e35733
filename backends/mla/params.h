// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/splitkv/work_list.h"
#include "lib/base/dtype.h"

namespace attnbench {

/// splitkv's work list and addresses; keys are found through a block table instead of token slots.
/// One KV head; V is the first 512 columns of each 576-column row.
struct MlaParams : SplitKvParams {
  const std::int32_t* block_table = nullptr;  ///< [B, block_table_width]
  std::int64_t block_table_width = 0;
  std::int32_t page_shift = 0;  ///< log2 of the page size
};

/// What selects a compiled kernel.
struct MlaKernel {
  DType dtype = DType::kBF16;  ///< of Q and O
  DType kv_dtype = DType::kBF16;
  bool many_rows = false;  ///< tiles of 64 rows, else of 16
};

/// Whether there is such a kernel.
[[nodiscard]] bool mla_has_kernel(const MlaKernel& kernel);
/// Raises the kernel's shared memory limit; once before the first launch, outside of any capture.
void prepare_mla(const MlaKernel& kernel);
/// Enqueues one kernel on a cudaStream_t: a block per item.
void launch_mla(const MlaKernel& kernel, const MlaParams& params, void* stream);

}  // namespace attnbench
