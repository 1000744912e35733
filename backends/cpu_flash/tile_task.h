// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu_flash/flash_kernels.h"
#include "backends/cpu_flash/plan.h"
#include "backends/cpu_flash/tile_work.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {

/// Unnormalised outputs of split rows, their maxima (over ln 2) and sums; all items' together.
struct FlashPartials {
  float* out = nullptr;  ///< [partial_rows, padded dv + gap]
  float* highest = nullptr;
  float* sum = nullptr;
};

/// Bytes of one thread's scratch for a plan, a multiple of 256; vectors have `lanes` floats.
[[nodiscard]] std::size_t scratch_bytes(const FlashPlan& plan, const AttentionLayer& layer,
                                        std::int64_t lanes);
[[nodiscard]] FlashScratch scratch_at(std::byte* memory, const FlashPlan& plan,
                                      const AttentionLayer& layer, std::int64_t lanes);

/// Computes one item into the output, or into the partial results.
void run_item(const ForwardBatch& batch, const FlashItem& item, const FlashKernels& kernels,
              const FlashScratch& scratch, const FlashPartials& partials);

/// Merges row `row` of the merge's rows over its splits, first to last, into the output.
void merge_row(const ForwardBatch& batch, const FlashMerge& merge, std::int64_t row,
               const FlashKernels& kernels, const FlashPartials& partials, float* out);

}  // namespace attnbench
