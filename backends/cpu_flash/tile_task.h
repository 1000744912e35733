// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu_flash/online_softmax.h"
#include "backends/cpu_flash/plan.h"
#include "lib/fixture/fixture.h"

namespace attnbench {

/// Unnormalised outputs of split rows, their maxima (over ln 2) and sums; all items' together.
struct FlashPartials {
  float* out = nullptr;  ///< [partial_rows, padded dv + gap]
  float* highest = nullptr;
  float* sum = nullptr;
};

/// One thread's working memory, in the workspace.
struct FlashScratch {
  float* q = nullptr;                        ///< [rows, padded dk], many rows in panels
  float* out = nullptr;                      ///< [rows, padded dv + gap]
  float* scores = nullptr;                   ///< [tile keys + slack, padded rows]
  float* k = nullptr;                        ///< [tile keys, padded dk + gap] converted
  float* v = nullptr;                        ///< [tile keys, padded dv + gap]
  const std::byte** row_pointers = nullptr;  ///< [4, tile keys + slack]
  SoftmaxRows rows;
};

/// Bytes of one thread's scratch for a plan, a multiple of 256.
[[nodiscard]] std::size_t scratch_bytes(const FlashPlan& plan, const AttentionLayer& layer);
[[nodiscard]] FlashScratch scratch_at(std::byte* memory, const FlashPlan& plan,
                                      const AttentionLayer& layer);

/// Computes one item into the output, or into the partial results.
void run_item(const AttentionIo& io, const FlashItem& item, const FlashScratch& scratch,
              const FlashPartials& partials);

/// Merges row `row` of the merge's rows over its splits, first to last, into the output.
void merge_row(const AttentionIo& io, const FlashMerge& merge, std::int64_t row,
               const FlashPartials& partials, float* out);

}  // namespace attnbench
