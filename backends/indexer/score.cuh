// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lib/batch/indexer_inputs.h"

namespace attnbench::indexer {

inline constexpr int kTileKeys = 64;  // rows of a matrix instruction
inline constexpr int kMostHeads = 64;
inline constexpr int kMostTokens = 8;  // of a block

/// A step for the kernel. Blocks (x, y) of the grid: key tiles [x * tiles, (x + 1) * tiles) of
/// request y / groups, for `tokens` of its query tokens from (y % groups) * tokens on.
struct ScoreStep {
  IndexerInputs in;
  const std::int32_t* qo_indptr = nullptr;    ///< [B + 1] query tokens, cumulative
  const std::int32_t* block_table = nullptr;  ///< [B, table_width] pages
  std::int64_t table_width = 0;
  float* logits = nullptr;  ///< [T, columns]
  std::int64_t columns = 0;
  int requests = 0;
  int groups = 1;         ///< of query tokens of a request, at most
  int tokens = 1;         ///< of a group, up to kMostTokens
  int tiles = 1;          ///< of a block
  int tile_blocks = 1;    ///< blocks beside each other: the grid's x
  int tiles_of_page = 1;  ///< page_size / kTileKeys
};

/// Whether this build and GPU have the kernel: it is of sm_90a.
[[nodiscard]] bool can_score();
/// Tiles that a block with queries of `tokens` tokens takes at once, and such blocks that a
/// multiprocessor runs at once.
[[nodiscard]] int tiles_at_once(int tokens);
[[nodiscard]] int blocks_at_once(int tokens);
/// Once before the first launch, outside of any capture.
void prepare_score(const ScoreStep& step);
/// Lengths are read on the device.
void enqueue_score(const ScoreStep& step, cudaStream_t stream);

}  // namespace attnbench::indexer
