// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/dtype.h"
#include "lib/batch/pool_shape.h"

namespace attnbench {

/// The first members of a row, which are no new tokens. Members are keys one behind the other.
struct WaitingKeys {
  std::int32_t first_row = -1;  ///< of PoolWrite::ring; the others lie behind it
  std::int32_t count = 0;
  std::int32_t absent = 0;  ///< before these: they would stand before the request's first key
};

/// What the write of pools (GLM-5.3-Flash; the compressors of DeepSeek-V4) reads and writes beside
/// the cache. The row of a pool is in each dim the sum of its members, weighed by a softmax:
///   sum over i of exp(gate[i] + ape[i]) k[i] / sum over i of exp(gate[i] + ape[i])
/// in f32, i counting the members and ape the keys of a pool. It is written with the pool's last
/// key. Until then keys and gates wait in a ring, in blocks of a pool's keys of which a request has
/// a few and the first is nobody's. What a step reads of the ring it does not write, so that it can
/// run again.
struct PoolWrite {
  const std::byte* gates = nullptr;         ///< [T, columns]
  const float* ape = nullptr;               ///< [keys, columns]
  std::byte* ring = nullptr;                ///< [rows, 2, columns]: a key, then its gate
  const std::int64_t* ring_rows = nullptr;  ///< [T] where the token is to wait; -1: nowhere
  const WaitingKeys* waiting = nullptr;     ///< [T] of tokens that close a pool; others: none
};

/// What a step of StepPart::kIndexWrite reads, and where it writes: the key of each new token for
/// the indexer, behind its norm and its rotation, goes to a row of the cache that IndexerInputs
/// describes; of an indexer of pools only the row of a pool that the token closes. A step of
/// StepPart::kCompress does the same for the compressed rows of the layer itself, in pages of their
/// own. Borrowed memory of the device that computes.
///
/// In a cache of e4m3 a row is the key divided by its index_key_scale(), rounded to nearest even,
/// and the scale goes behind the page's rows (vLLM's indexer_k_quant_and_cache, SGLang's
/// act_quant). In a cache of bf16 (SelectionScore::kMax) it is the key itself.
struct IndexWrite {
  const std::byte* k = nullptr;         ///< [T, PoolShape::columns()] of PoolShape::dtype
  const std::int64_t* slots = nullptr;  ///< [T] row of the cache, page * page_size + row; -1: none
  std::byte* cache = nullptr;           ///< [pages, page_size * bytes of a row]
  std::int64_t tokens = 0;              ///< T: of the requests, and of padding, which has no rows
  std::int64_t pages = 0;
  std::int64_t page_size = 1;  ///< rows
  PoolShape shape{};
  PoolWrite pools{};  ///< of rows that are made of several keys
};

/// The scale of a key whose largest element is `amax` in size: the least power of two that brings
/// it to e4m3's largest number, as "ue8m0" scales are computed, with the floor that keeps a key of
/// zeros from a scale of 0.
[[nodiscard]] constexpr float index_key_scale(float amax) {
  constexpr float kLargest = 448, kFloor = 1e-10f;
  return rounded_up_to_power_of_two((amax < kFloor ? kFloor : amax) / kLargest);
}

}  // namespace attnbench
