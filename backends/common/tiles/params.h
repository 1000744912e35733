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
};

}  // namespace attnbench::tiles
