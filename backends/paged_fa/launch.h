// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "backends/common/attention_params.h"
#include "lib/base/dtype.h"
#include "lib/batch/problem.h"

namespace attnbench::paged_fa {

/// A tile of query rows over keys [key_begin, key_end), for every KV head. Rows of a sequence that
/// share a KV head are counted token * group_size + head within the group (FlashAttention 3's
/// PackGQA). Keys count from the sequence's first.
struct Item {
  std::int32_t sequence = 0;
  std::int32_t row_begin = 0;
  std::int32_t rows = 0;
  std::int32_t key_begin = 0;
  std::int32_t key_end = 0;
  std::int32_t full_begin = 0;  ///< every row sees all keys of [full_begin, full_end)
  std::int32_t full_end = 0;
  std::int32_t splits = 1;         ///< pieces that this tile's keys were cut into
  std::int32_t tile = 0;           ///< among the tiles that were split: which counter
  std::int32_t partial = 0;        ///< where this piece's result waits for the merge
  std::int32_t first_partial = 0;  ///< of the tile's first piece
  std::int32_t variant = 0;        ///< form of the queries that these keys meet (VariantKeys)
};

/// Values of a row of V, and of a partial result, in the kernels of `head_dim`: 72 is padded.
[[nodiscard]] constexpr int padded_head_dim(int head_dim) { return head_dim == 72 ? 80 : head_dim; }

/// Keys of the page that ragged keys are read as, more than a sequence has: a power of two, as
/// AttentionParams::page_shift tells pages by.
inline constexpr std::int32_t kRaggedPage = 1 << 30;

/// Everything a kernel needs, by value. Strides of q, and of out unless it is in fp8, are multiples
/// of 16 bytes, those of k and v of 32, or of 16 where rows are padded.
struct Params : AttentionParams {
  std::int32_t head_dim = 0;  ///< of V; of K, too, where rows are padded
  const Item* items = nullptr;
  std::int32_t num_items = 0;
  std::int32_t heads_together = 1;   ///< KV heads whose items are taken up side by side
  std::int32_t* counters = nullptr;  ///< [tiles, heads_kv] pieces done; 0 between launches
  std::int32_t* taken = nullptr;     ///< items that blocks have asked for; 0 between launches
  float* partial_out = nullptr;      ///< [partials, heads_kv, partial_rows, dv]
  float* partial_lse = nullptr;      ///< [partials, heads_kv, partial_rows], base 2
  std::int32_t partial_rows = 0;

  /// [sequences] of ragged keys, the row of K and V in which a sequence's keys begin. They are read
  /// as one page of kRaggedPage keys, without a table. Null: pages.
  const std::int32_t* first_rows = nullptr;
  const std::int32_t* page_table = nullptr;     ///< [sequences, page_table_stride]
  std::int64_t page_table_stride = 0;           ///< in entries; 0: all sequences share one row
  const std::int32_t* cache_seqlens = nullptr;  ///< [sequences] keys
  const std::int32_t* cu_seqlens_q = nullptr;   ///< [sequences + 1] query tokens, cumulative
  /// [T, 2] where prompts have spans: the keys [begin, end) that a query token sees, whatever the
  /// rules above say. Read by kernels of Kernel::spans only.
  const std::int32_t* seen = nullptr;
};

/// Has keys read as ragged ones are.
inline void set_ragged_page(Params& params) {
  params.page_size = kRaggedPage;
  params.page_shift = std::countr_zero(static_cast<std::uint32_t>(kRaggedPage));
}

/// Query rows of a thread block's tile.
enum class TileKind : std::int32_t { kFew = 16, kSome = 64, kMany = 128 };

/// What selects a compiled kernel.
struct Kernel {
  DType dtype = DType::kBF16;  ///< of q
  DType kv_dtype = DType::kBF16;
  int head_dim_k = 0;
  int head_dim_v = 0;
  TileKind tile = TileKind::kFew;
  bool plain = true;   ///< neither draft trees nor temperatures, which kernels with wgmma lack
  bool spans = false;  ///< prompts have spans: Params::seen; no tiles of 16 rows
};

/// The one for a problem's types and head dims.
[[nodiscard]] inline Kernel kernel_for(const Problem& problem, TileKind tile) {
  const AttentionLayer& layer = problem.layer;
  const bool plain = problem.mode != ForwardMode::kTargetVerify && layer.temperature_len == 0;
  return {problem.dtype, problem.cache.dtype, layer.head_dim_qk, layer.head_dim_v, tile,
          plain,         problem.spans};
}

/// Whether there is such a kernel.
[[nodiscard]] bool has_kernel(const Kernel& kernel);

/// Raises the kernel's shared memory limit; once before the first launch, outside of any capture.
void prepare(const Kernel& kernel);

/// Enqueues one kernel on a cudaStream_t: a block per item and KV head. Items are tiles of at most
/// kernel.tile rows.
void launch(const Kernel& kernel, const Params& params, void* stream);

}  // namespace attnbench::paged_fa
