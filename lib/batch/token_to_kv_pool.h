// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/dtype.h"
#include "lib/batch/kv_layout.h"
#include "lib/batch/kv_pool.h"

namespace attnbench {

/// Extent of one layer's KV cache: num_pages * page_size rows (tokens) of heads_kv heads.
struct KvPoolShape {
  DType dtype = DType::kBF16;
  KvLayout layout = KvLayout::kNhd;
  std::int64_t page_size = 1;
  std::int64_t num_pages = 0;  ///< dummy page 0 included
  int heads_kv = 0;
  int head_dim_k = 0;
  int head_dim_v = 0;  ///< MLA: leading columns of the K row
};

/// Bytes of the K buffer (MLA: of the one buffer) and of the V buffer (MHA only).
[[nodiscard]] std::int64_t k_buffer_bytes(const KvPoolShape& shape);
[[nodiscard]] std::int64_t v_buffer_bytes(const KvPoolShape& shape);

/// K as dense [num_pages, page_size, heads_kv, dk] (NHD) or [num_pages, heads_kv, page_size, dk]
/// (HND), V likewise with dv. Scales are 1 until the caller sets them.
[[nodiscard]] KvPool mha_pool_view(std::byte* k, std::byte* v, const KvPoolShape& shape);

/// One buffer [num_pages, page_size, 1, dk], dk = kv_lora_rank + qk_rope_head_dim, whose first dv
/// columns are V. heads_kv must be 1, which makes the layouts the same.
[[nodiscard]] KvPool mla_pool_view(std::byte* kv, const KvPoolShape& shape);

}  // namespace attnbench
