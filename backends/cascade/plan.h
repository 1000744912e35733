// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/common/attention_params.h"
#include "backends/splitkv/planner.h"
#include "lib/base/dtype.h"
#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench::cascade {

/// Keys [key_begin, key_end) of neighbouring requests [begin, end), which lie in the same slots.
struct SharedKeys {
  std::int64_t begin = 0, end = 0;  ///< at least two requests
  std::int64_t key_begin = 0, key_end = 0;
  int parent = -1;  ///< whose requests share the keys before key_begin; -1: there are none
};

/// Levels of shared keys that are computed apart. A row's partial results of all levels are merged
/// at once; what a deeper branch shares is read by each request as its own.
inline constexpr int kMostLevels = 8;

/// What requests share, as a tree: branches of a prefix lie behind it.
struct SharedTree {
  std::vector<SharedKeys> nodes;  ///< parents before children
  std::vector<int> last;          ///< by request: the deepest node that it belongs to, or -1

  /// Where the keys begin that the request shares with no neighbour.
  [[nodiscard]] std::int64_t suffix_begin(std::int64_t request) const;
};

/// All new tokens of a node's requests see its keys. A slot holds one token after one history (so
/// it is in SGLang's radix tree, and in vLLM's blocks, whose hashes include their parents'):
/// requests that share a key share all before it, and a binary search finds where two diverge.
[[nodiscard]] SharedTree shared_tree(const ForwardBatch& batch);

/// Where partial results of rows wait that one level computed: row i of a merge tile is row `row` +
/// i of the node, all its requests' rows one after another.
struct alignas(16) LevelRows {
  std::int32_t row = 0;
  std::int32_t first = 0;  ///< partial result of the node's first tile; each tile has `count`
  std::int32_t count = 0;
};

/// Rows of a request that shares keys, KV head 0: where their partial results wait. Row i's suffix
/// is row i of its pieces.
struct alignas(16) MergeTile {
  std::int32_t q_begin = 0;    ///< qo_indptr[request]
  std::int32_t row_begin = 0;  ///< as in splitkv::Item
  std::int32_t rows = 0;
  std::int32_t suffix_first = 0;  ///< partial results
  std::int32_t suffix_count = 0;
  std::int32_t levels_first = 0;  ///< in WorkPlan::levels, one for each node of the request
  std::int32_t levels_count = 0;
};

/// Two work lists for splitkv's kernels and a merge. The first holds the nodes of all levels: none
/// waits for another, so that they fill the GPU together. Rows of a node count as one long
/// request's, so that a tile holds rows of many requests. A request on its own is all suffix, and
/// needs no merge.
struct WorkPlan {
  splitkv::WorkPlan prefix, suffix;
  std::vector<MergeTile> tiles;
  std::vector<LevelRows> levels;
};

[[nodiscard]] WorkPlan plan_work(const ForwardBatch& batch, const AttentionLayer& layer,
                                 int multiprocessors);

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
