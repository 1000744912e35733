// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/common/tiles/params.h"
#include "lib/base/dtype.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/problem.h"

namespace attnbench::splitkv {

using tiles::Item;
using tiles::Params;

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

/// Bytes of K or V within which a kernel finds rows: a warp's lanes tell each other where a row
/// lies in units of 16 bytes, in one 32-bit word, whose highest value means that there is no row.
inline constexpr std::int64_t kReachOfRows = std::int64_t{16} << 32;

/// What selects the kernel for a problem's types and head dims.
[[nodiscard]] inline Kernel kernel_for(const Problem& problem, bool many_rows) {
  return {problem.dtype, problem.cache.dtype, problem.layer.head_dim_qk, problem.layer.head_dim_v,
          many_rows};
}

/// As set_attention_params(), for kernels that find keys by their slots. Throws InternalError where
/// K or V lies further apart than they can reach.
void set_tensors(Params& params, const ForwardBatch& batch);

}  // namespace attnbench::splitkv
