// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cascade/plan.h"
#include "backends/common/attention_params.h"
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
struct Merge : OutputParams {
  const MergeTile* tiles = nullptr;
  const LevelRows* levels = nullptr;
  std::int32_t num_tiles = 0;
  std::int32_t tile_rows = 0;         ///< most rows of one
  std::int32_t prefix_tile_rows = 0;  ///< rows of a tile of the prefix pass
  Partials prefix, suffix;
  std::int32_t head_dim_v = 0;  ///< a multiple of 32, at most 256
  DType dtype = DType::kBF16;   ///< of O where that is not in fp8: bf16 or f16
};

/// Enqueues the merge on a cudaStream_t.
void launch(const Merge& merge, void* stream);

}  // namespace attnbench::cascade
