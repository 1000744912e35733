// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cascade/plan.h"
#include "lib/base/dtype.h"

namespace attnbench::cascade {

/// Partial results of one pass. Addresses are the device's.
struct Partials {
  const float* out = nullptr;  ///< [heads_kv, per_head, rows, head_dim_v], normalised
  const float* lse = nullptr;  ///< [heads_kv, per_head, rows], base 2
  std::int32_t per_head = 0;   ///< results per KV head
  std::int32_t rows = 0;       ///< kept for each
};

/// Joins the partial results of each row by their LSEs.
struct Merge {
  const MergeTile* tiles = nullptr;
  std::int32_t num_tiles = 0;
  std::int32_t tile_rows = 0;         ///< most rows of one
  std::int32_t prefix_tile_rows = 0;  ///< rows of a tile of the prefix pass
  Partials prefix, suffix;
  const float* sinks = nullptr;  ///< [heads_q] or null
  std::int32_t heads_kv = 0;
  std::int32_t group = 1;       ///< query heads per KV head
  std::int32_t head_dim_v = 0;  ///< a multiple of 32, at most 256
  float v_scale = 1;
  DType dtype = DType::kBF16;  ///< of O: bf16 or f16
  std::byte* out = nullptr;
  std::int64_t out_token_stride = 0, out_head_stride = 0;  ///< bytes
  std::byte* lse = nullptr;
  std::int64_t lse_token_stride = 0, lse_head_stride = 0;  ///< bytes
};

/// Enqueues the merge on a cudaStream_t.
void launch(const Merge& merge, void* stream);

}  // namespace attnbench::cascade
