// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/common/tiles/params.h"
#include "lib/base/dtype.h"
#include "lib/batch/problem.h"

namespace attnbench::mla {

using tiles::Item;

/// A work list and addresses as splitkv's, but for the counters: another kernel merges. Keys are
/// found through a block table instead of token slots. One KV head; V is the first 512 columns of
/// each row, behind which lie 64 rope columns or none.
struct Params : tiles::Params {
  const std::int32_t* block_table = nullptr;  ///< [B, block_table_width]
  std::int64_t block_table_width = 0;
  const Item* merges = nullptr;  ///< tiles that were split, over all their pieces
  std::int32_t num_merges = 0;
  bool most_merges = false;  ///< of any step of a recorded plan: many of these merges may be empty
  // Of kernels with a block per multiprocessor: blocks of one part walk the same items, each its
  // own rows.
  const std::int32_t* part_begin = nullptr;  ///< [parts + 1] first item of each part
  std::int32_t parts = 0;
  std::int32_t lanes = 1;  ///< blocks per part
};

/// Rows that a block has, and how it multiplies.
enum class TileKind : std::uint8_t {
  kFew,         ///< 16, mma.sync
  kMany,        ///< 64, mma.sync
  kFewFp8,      ///< 16, mma.sync over latents that stay in fp8 in shared memory: sm_90a
  kWarpgroups,  ///< 64, wgmma: sm_90a
};

/// The same in rows.
[[nodiscard]] constexpr std::int64_t rows_of(TileKind tile) {
  return tile == TileKind::kFew || tile == TileKind::kFewFp8 ? 16 : 64;
}

/// Whether a kernel has a block, or several, for each part of a work list; else one for each item.
[[nodiscard]] constexpr bool has_parts(TileKind tile) {
  return tile == TileKind::kFewFp8 || tile == TileKind::kWarpgroups;
}

/// What selects a compiled kernel.
struct Kernel {
  DType dtype = DType::kBF16;  ///< of Q and O
  DType kv_dtype = DType::kBF16;
  TileKind tile = TileKind::kFew;
  bool scaled_blocks = false;  ///< KvScales::kBlock, which kernels with parts alone can have
  bool fp8_out = false;        ///< O is of an fp8 type
  /// Of kernels with wgmma and 16-bit outputs: queries see all keys up to their own, or all; no
  /// window, chunk, block, tree or cap of logits.
  bool plain = false;
  /// Rows have rope columns. Only kernels with wgmma and 16-bit latents do without.
  bool rope = true;
};

/// The one with wgmma for a problem.
[[nodiscard]] inline Kernel warpgroup_kernel_for(const Problem& problem) {
  Kernel kernel{problem.dtype, problem.cache.dtype, TileKind::kWarpgroups,
                problem.cache.scales == KvScales::kBlock, problem.fp8.out.has_value()};
  kernel.rope = problem.layer.head_dim_qk > problem.layer.head_dim_v;
  return kernel;
}

/// Whether this build has such a kernel for the current GPU.
[[nodiscard]] bool has_kernel(const Kernel& kernel);
/// Raises the kernel's shared memory limit; once before the first launch, outside of any capture.
void prepare(const Kernel& kernel);
/// Enqueues a kernel on a cudaStream_t: a block per item, or p.lanes blocks per part (has_parts()).
/// If tiles were split, another one merges them.
void launch(const Kernel& kernel, const Params& params, void* stream);

}  // namespace attnbench::mla
