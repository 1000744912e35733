// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/common/visibility.h"
#include "backends/cpu_flash/geometry.h"
#include "lib/base/dtype.h"
#include "lib/batch/cache_format.h"

// What vector code gets from the plain code around it.
namespace attnbench::cpu_flash {

/// Key pointers and score rows must reach this far beyond a tile's keys.
inline constexpr std::int64_t kKeySlack = 8;

/// State of the rows of one item, padded as Geometry::padded_rows says.
struct SoftmaxRows {
  float* highest = nullptr;           ///< largest logit so far / ln 2, -inf before the first
  float* sum = nullptr;               ///< of 2^(logit / ln 2 - highest)
  float* correction = nullptr;        ///< 2^(old highest - new highest) of the last tile
  float* temperature = nullptr;       ///< multiplies logits, after the cap
  float* slope = nullptr;             ///< ALiBi
  std::int32_t* position = nullptr;   ///< of the query among the keys
  std::int32_t* key_begin = nullptr;  ///< keys visible to the row
  std::int32_t* key_end = nullptr;
  std::int32_t* plain_end = nullptr;  ///< from key_begin to here nothing is hidden
  Visibility* seen = nullptr;         ///< read when the rule says hides
};

struct LogitRule {
  float scale = 1;
  float cap = 0;  ///< 0 = off
  bool temperature = false;
  bool alibi = false;
  bool keys_ahead = false;  ///< a row sees keys behind its own position in the text
  bool hides = false;       ///< keys within a row's range: draft nodes, other items
};

/// What has been summed over units that each have a softmax of their own, while `out`, `highest`
/// and `sum` of the rows are those of one unit. Null where units are not weighed.
struct SoftmaxOfUnits {
  float* out = nullptr;      ///< [rows, padded dv + gap]
  float* highest = nullptr;  ///< [rows] as SoftmaxRows'
  float* sum = nullptr;      ///< likewise
};

/// Lists of a tile's rows of K and of V: of this tile and the next, of one head of several, and
/// what is asked for.
inline constexpr std::int64_t kPointerLists = 4;

/// One thread's working memory for a head, in the workspace. Heads of one item differ in q, out and
/// rows.
struct Scratch {
  float* q = nullptr;                        ///< [rows, padded dk], or as QueryLayout says
  float* out = nullptr;                      ///< [rows, padded dv + gap]
  float* scores = nullptr;                   ///< [tile keys + slack, padded rows]
  float* k = nullptr;                        ///< [tile keys, padded dk + gap] converted
  float* v = nullptr;                        ///< [tile keys, padded dv + gap]
  const std::byte** row_pointers = nullptr;  ///< [lists, 2, tile keys + slack]
  std::int32_t* keys = nullptr;              ///< [keys of an item] gathered; null: all
  SoftmaxRows rows;
  SoftmaxOfUnits units;
};

/// How an item's queries lie, ready for the product that reads them.
enum class QueryLayout : std::uint8_t {
  kRows,        ///< floats, [rows, padded dk]
  kPanels,      ///< floats, a vector of rows side by side: [panels, padded dk, lanes]
  kBf16Chunks,  ///< few rows: groups of 4, 2 or 1 rows, [dk / c, group, c] with c = 32 / group
  kBf16Panels,  ///< pairs of neighbouring elements: [panels, dk / 2, lanes, 2]
};

/// What the tiles of an item have in common.
struct TileWork {
  DType dtype = DType::kF32;  ///< of K and V as stored
  bool mla = false;           ///< V is the beginning of K
  BlockRow blocks;            ///< of rows that bring scales of blocks along
  bool whole_rows = false;    ///< all heads' rows of a tile were asked for during the tile before
  QueryLayout queries = QueryLayout::kRows;
  std::int64_t rows = 0;
  Geometry g;
  Scratch s;
  LogitRule rule;
};

/// Addresses of one tile's rows of K and V.
struct RowPointers {
  const std::byte** k;
  const std::byte** v;  ///< of a row with scales of blocks: these
  std::int64_t keys = 0;
};

}  // namespace attnbench::cpu_flash
