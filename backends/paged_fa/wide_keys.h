// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/paged_fa/launch.h"
#include "backends/paged_fa/plan.h"
#include "lib/base/dtype.h"

// Keys of an fp8 cache that prompts read many times: widened once into the plan's memory, they are
// read by the kernels of 128 rows, which have tensor-core operands of 16 bits in shared memory.
namespace attnbench::paged_fa {

/// Keys [first_key, first_key + keys) of a sequence, which become rows [row, row + keys). Those
/// before `first_seen` are no item's and become zeros.
struct WidePiece {
  std::int32_t sequence = 0;
  std::int32_t first_key = 0;
  std::int32_t keys = 0;
  std::int32_t first_seen = 0;
  std::int32_t row = 0;
};
/// Keys of a piece at most: what a block of the kernel has.
inline constexpr std::int32_t kWidePieceKeys = 64;

/// Where the keys of a plan's tiles of 128 rows lie once they are wide.
struct WideKeysPlan {
  std::vector<WidePiece> pieces;
  std::vector<std::int32_t> first_rows;  ///< [sequences] row of key 0, were it there; may be < 0
  std::int64_t rows = 0;                 ///< of K and of V, for each KV head
};
[[nodiscard]] WideKeysPlan plan_wide_keys(const WorkPlan& plan, std::int64_t sequences);

/// What the kernel is told: K [heads_kv, rows, head_dim_k] and V likewise, dense.
struct WideKeys {
  const WidePiece* pieces = nullptr;
  std::int32_t num_pieces = 0;
  DType dtype = DType::kBF16;  ///< of the rows written; holds each number of fp8
  DType kv_dtype = DType::kE4M3;
  int head_dim_k = 0;  ///< multiples of 16
  int head_dim_v = 0;
  std::byte* k = nullptr;
  std::byte* v = nullptr;
  std::int64_t rows = 0;
};

/// Enqueues the widening of the keys that `from` describes on a cudaStream_t. Scales of heads or
/// requests are multiplied in: exactly where they have up to four significant bits, as a fixture's
/// do; others would be rounded.
void widen_keys(const WideKeys& keys, const Params& from, void* stream);

/// `params` for a kernel that reads the rows: ragged keys that begin at `first_rows` on the device.
[[nodiscard]] Params over_wide_keys(Params params, const WideKeys& keys,
                                    const std::int32_t* first_rows);

}  // namespace attnbench::paged_fa
