// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/paged_fa/wide_keys.h"

#include <algorithm>

#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench::paged_fa {
namespace {

/// A kernel copies keys in boxes of up to so many, from the multiple below an item's first key.
constexpr std::int32_t kBox = 32;

/// Keys [begin, end) that a sequence's items see together; none where begin is not before end.
struct SeenKeys {
  std::int32_t begin = 0, end = 0;
};

std::vector<SeenKeys> seen_by_many_rows(const WorkPlan& plan, std::int64_t sequences) {
  std::vector<SeenKeys> seen(to_size(sequences));
  for (const WorkPlan::Launch& launch : plan.launches) {
    if (launch.tile != TileKind::kMany) continue;
    for (std::int32_t i = 0; i < launch.num_items; ++i) {
      const Item& item = plan.items[to_size(launch.first_item + i)];
      SeenKeys& keys = seen[to_size(item.sequence)];
      if (item.key_begin >= item.key_end) continue;
      keys.begin = keys.end == 0 ? item.key_begin : std::min(keys.begin, item.key_begin);
      keys.end = std::max(keys.end, item.key_end);
    }
  }
  return seen;
}

}  // namespace

WideKeysPlan plan_wide_keys(const WorkPlan& plan, std::int64_t sequences) {
  WideKeysPlan wide;
  const std::vector<SeenKeys> seen = seen_by_many_rows(plan, sequences);
  for (std::int32_t s = 0; s < std::ssize(seen); ++s) {
    const auto [begin, end] = seen[to_size(s)];
    const std::int32_t first = begin / kBox * kBox;
    wide.first_rows.push_back(narrow_i32(wide.rows - first));
    for (std::int32_t key = first; key < end; key += kWidePieceKeys) {
      WidePiece piece;
      piece.sequence = s;
      piece.first_key = key;
      piece.keys = std::min(kWidePieceKeys, end - key);
      piece.first_seen = begin;
      piece.row = narrow_i32(wide.rows);
      wide.pieces.push_back(piece);
      wide.rows += piece.keys;
    }
  }
  return wide;
}

Params over_wide_keys(Params params, const WideKeys& keys, const std::int32_t* first_rows) {
  params.k = keys.k;
  params.v = keys.v;
  params.k_token_stride = keys.head_dim_k * size_bytes(keys.dtype);
  params.v_token_stride = keys.head_dim_v * size_bytes(keys.dtype);
  params.k_head_stride = params.k_page_stride = keys.rows * params.k_token_stride;
  params.v_head_stride = params.v_page_stride = keys.rows * params.v_token_stride;
  params.k_scales = params.v_scales = nullptr;  // the rows are multiplied with them
  params.first_rows = first_rows;
  params.page_table = nullptr;
  params.page_table_stride = 0;
  set_ragged_page(params);
  return params;
}

}  // namespace attnbench::paged_fa
