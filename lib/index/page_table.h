// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/batch/allocator.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {

/// Dense page table as FlashAttention and TRT-LLM read it. Entries beyond ceil(len / page_size) of
/// a row are padding that must not be read.
struct PageTable {
  std::int64_t page_size = 1;
  std::int64_t width = 0;                   ///< columns
  std::vector<std::int32_t> page_table;     ///< [rows, width]
  std::vector<std::int32_t> cache_seqlens;  ///< [rows] keys per row

  [[nodiscard]] std::span<const std::int32_t> row(std::int64_t index) const {
    return std::span(page_table)
        .subspan(static_cast<std::size_t>(index * width), static_cast<std::size_t>(width));
  }
};

/// Pages of all keys of each request: req_to_token[:, ::page_size] // page_size. Width is that of
/// the longest request, or `min_width` if that is more, and at least 1: engines' tables are as wide
/// as their longest context, and kernels refuse one without columns.
[[nodiscard]] PageTable build_page_table(const ForwardBatch& batch, std::int64_t page_size,
                                         std::int32_t pad = -1, std::int64_t min_width = 0);

/// The same keys in the pool of the sliding-window layers; pages of the window only are mapped, the
/// others become page 0.
[[nodiscard]] PageTable build_swa_page_table(const ForwardBatch& batch, std::int64_t page_size,
                                             const FullToSwaMapping& mapping,
                                             std::int64_t min_width = 0);

}  // namespace attnbench
