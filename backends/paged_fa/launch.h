// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/paged_fa/kernel_params.h"
#include "lib/base/dtype.h"
#include "lib/batch/problem.h"

namespace attnbench::paged_fa {

/// Query rows of a thread block's tile.
enum class TileKind : std::int32_t { kFew = 16, kSome = 64, kMany = 128 };

/// What selects a compiled kernel.
struct Kernel {
  DType dtype = DType::kBF16;  ///< of q
  DType kv_dtype = DType::kBF16;
  int head_dim_k = 0;
  int head_dim_v = 0;
  TileKind tile = TileKind::kFew;
  bool plain = true;  ///< neither draft trees nor temperatures, which kernels with wgmma lack
};

/// The one for a problem's types and head dims.
[[nodiscard]] inline Kernel kernel_for(const Problem& problem, TileKind tile) {
  const AttentionLayer& layer = problem.layer;
  const bool plain = problem.mode != ForwardMode::kTargetVerify && layer.temperature_len == 0;
  return {problem.dtype, problem.cache.dtype, layer.head_dim_qk, layer.head_dim_v, tile, plain};
}

/// Whether there is such a kernel.
[[nodiscard]] bool has_kernel(const Kernel& kernel);

/// Raises the kernel's shared memory limit; once before the first launch, outside of any capture.
void prepare(const Kernel& kernel);

/// Enqueues one kernel on a cudaStream_t: a block per item and KV head. Items are tiles of at most
/// kernel.tile rows.
void launch(const Kernel& kernel, const Params& params, void* stream);

}  // namespace attnbench::paged_fa
