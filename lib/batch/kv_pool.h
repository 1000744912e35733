// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/dtype.h"

namespace attnbench {

/// One layer's KV cache as kernels address it, independent of NHD or HND order
/// (MHA and MLA). Element (slot, head, d) of K, with slot = page * page_size + offset,
/// lies at
///   k + (page * page_stride_k + offset * token_stride_k + head * head_stride_k + d) *
///   size_bytes(dtype)
/// and V likewise. MLA: v == k and the strides agree, V being the first columns of the same row.
/// Slot 0 (page 0) is the dummy that padding writes to; no request owns it.
struct KvPool {
  std::byte* k = nullptr;
  std::byte* v = nullptr;
  DType dtype = DType::kBF16;
  float k_scale = 1;
  float v_scale = 1;
  std::int64_t page_size = 1;
  std::int64_t num_pages = 0;  ///< dummy page included
  int heads_kv = 0;
  int head_dim_k = 0;
  int head_dim_v = 0;
  // Strides count elements.
  std::int64_t page_stride_k = 0, token_stride_k = 0, head_stride_k = 0;
  std::int64_t page_stride_v = 0, token_stride_v = 0, head_stride_v = 0;

  [[nodiscard]] constexpr std::byte* k_row(std::int64_t slot, std::int64_t head) const {
    return k + ((slot / page_size) * page_stride_k + (slot % page_size) * token_stride_k +
                head * head_stride_k) *
                   size_bytes(dtype);
  }
  [[nodiscard]] constexpr std::byte* v_row(std::int64_t slot, std::int64_t head) const {
    return v + ((slot / page_size) * page_stride_v + (slot % page_size) * token_stride_v +
                head * head_stride_v) *
                   size_bytes(dtype);
  }
};

}  // namespace attnbench
