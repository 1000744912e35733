// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "lib/batch/kv_pool.h"

namespace attnbench {

/// Which row of a token and head. The V row of an MLA pool is a part of its K row: it can be read
/// alone, and is written with the K row.
enum class KvPart : std::uint8_t { kKey, kValue };

// One logical row, of head_dim_k or head_dim_v numbers, into and out of a pool of any format that
// the host can reach. Numbers are those that the row stands for: scales are applied here.

/// Stores `values` divided by their scales and rounded to nearest even; fp8 saturates.
/// `scales` are those that the row brings along, which are stored, too: one under KvScales::kToken,
/// one for each block of a row that has such, none otherwise.
void encode_kv_row(const KvPool& pool, KvPart part, std::int64_t slot, int head,
                   std::span<const float> values, std::span<const float> scales = {});

/// The numbers that the pool's row stands for, each rounded to f32.
void decode_kv_row(const KvPool& pool, KvPart part, std::int64_t slot, int head,
                   std::span<float> values);

// The same of stored numbers, which no scale is applied to.

/// `stored` are on the grid of the pool's dtype (bf16's in the rope part of a row with scales
/// inside); values off it are rounded. Writes `scales`, too.
void store_kv_row(const KvPool& pool, KvPart part, std::int64_t slot, int head,
                  std::span<const float> stored, std::span<const float> scales = {});
void load_kv_row(const KvPool& pool, KvPart part, std::int64_t slot, int head,
                 std::span<float> stored);

/// Only the scales that a row brings along.
void store_kv_scales(const KvPool& pool, KvPart part, std::int64_t slot, int head,
                     std::span<const float> scales);

/// What element `dim` of a stored row is multiplied with; not under KvScales::kRequest.
[[nodiscard]] float kv_scale_at(const KvPool& pool, KvPart part, std::int64_t slot, int head,
                                int dim);

}  // namespace attnbench
