// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/common/attention_params.h"
#include "backends/common/tiles/items.h"

namespace attnbench::tiles {

/// Everything a kernel needs, by value.
struct Params : AttentionParams {
  const Item* items = nullptr;       ///< of KV head 0; the others' differ in head alone
  std::int32_t tiles = 0;            ///< counters per KV head
  std::int32_t partials = 0;         ///< partial results per KV head
  std::int32_t* counters = nullptr;  ///< [heads_kv, tiles] pieces done; 0 between launches
  float* partial_out = nullptr;      ///< [heads_kv, partials, partial_rows, dv]
  float* partial_lse = nullptr;      ///< [heads_kv, partials, partial_rows], base 2
  std::int32_t partial_rows = 0;
  std::int32_t num_items = 0;

  /// Token slots. page_size is 1 where slots follow each other evenly across pages.
  const std::int32_t* kv_indices = nullptr;

  // Of a layer with a selection, as ChosenRows finds them in each run. Rows of its lists stand
  // where kernels look for those of requests, in kv_indices or a block table.
  const std::int32_t* list_lengths = nullptr;  ///< keys of each list
  std::int32_t list_width = 0;                 ///< entries from one list to the next
  bool lists_by_kv_head = false;               ///< a token's lists are of its KV heads in turn
};

}  // namespace attnbench::tiles
