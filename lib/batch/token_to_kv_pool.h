// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/base/dtype.h"
#include "lib/batch/cache_format.h"
#include "lib/batch/kv_pool.h"

namespace attnbench {

/// Extent of one layer's KV cache: num_pages * page_size rows (tokens) of heads_kv heads.
struct KvPoolShape {
  CacheFormat format;
  std::int64_t num_pages = 0;  ///< dummy page 0 included; kRagged: rows, without one
  Family family = Family::kSoftmax;
  int heads_kv = 0;
  int head_dim_k = 0;
  int head_dim_v = 0;         ///< MLA: leading columns of the K row
  std::int64_t requests = 0;  ///< that have scales, under KvScales::kRequest
};
[[nodiscard]] KvPoolShape pool_shape_of(const AttentionLayer& layer, const CacheFormat& format,
                                        std::int64_t num_pages, std::int64_t requests = 0);

/// A buffer of a cache, row-major, and dense but for the gaps between pages.
struct CacheBuffer {
  std::string name;            ///< "k pool", "v scales"; "kv" where one buffer serves both
  std::optional<DType> dtype;  ///< none: bytes, of rows that mix types
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< in elements
  bool holds_scales = false;          ///< else keys, values or both

  [[nodiscard]] std::int64_t bytes() const;  ///< with the gap behind each page
};

/// What a cache consists of: its keys and values, then its scales, K's first.
[[nodiscard]] std::vector<CacheBuffer> cache_buffers(const KvPoolShape& shape);
/// Bytes of a token's keys, values and scales of its own.
[[nodiscard]] std::int64_t bytes_of_token(const KvPoolShape& shape);
/// Bytes of all of them.
[[nodiscard]] std::int64_t cache_bytes(const KvPoolShape& shape);

/// The cache whose cache_buffers() lie at `buffers`. k_scale and v_scale are 1 until the caller
/// sets them. Throws InternalError when the layer's cache cannot be of the format.
[[nodiscard]] KvPool kv_pool_view(std::span<std::byte* const> buffers, const KvPoolShape& shape);

}  // namespace attnbench
