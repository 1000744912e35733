// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/base/dtype.h"
#include "lib/batch/indexer_inputs.h"

namespace attnbench {

/// How the rows that IndexWrite writes are made of keys. Of a pool of several keys a row is a
/// softmax of their gates over them in each dim (PoolWrite).
struct PoolShape {
  std::int64_t keys = 1;                    ///< new ones of each row; 1: the row is the key
  std::int64_t dims = IndexerInputs::kDim;  ///< of a row
  /// A row is of the keys of the pool before, too (DeepSeek-V4, rows of 4): keys and gates have
  /// 2 * dims columns, the first half for the pool behind their own, the second for their own. The
  /// first pool has none before it.
  bool overlaps = false;
  DType dtype = DType::kBF16;   ///< of keys and gates, which come and wait in it
  bool waits_with_ape = false;  ///< gates wait with what is added to them
  DType row = DType::kE4M3;     ///< e4m3 with a scale (index_key_scale()), or bf16 without one

  [[nodiscard]] constexpr bool waits() const { return keys > 1; }
  [[nodiscard]] constexpr std::int64_t halves() const { return overlaps ? 2 : 1; }
  /// Keys that a row is made of.
  [[nodiscard]] constexpr std::int64_t members() const { return keys * halves(); }
  /// Numbers of a key, and of a gate.
  [[nodiscard]] constexpr std::int64_t columns() const { return dims * halves(); }
  [[nodiscard]] constexpr std::int64_t key_bytes() const { return columns() * size_bytes(dtype); }
  /// A row of the ring: a key and its gate.
  [[nodiscard]] constexpr std::int64_t ring_row_bytes() const { return 2 * key_bytes(); }
  [[nodiscard]] constexpr std::int64_t row_bytes() const { return dims * size_bytes(row); }
  [[nodiscard]] constexpr std::int64_t scale_bytes() const {
    return row == DType::kE4M3 ? static_cast<std::int64_t>(sizeof(float)) : 0;
  }
};

}  // namespace attnbench
