// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backends/cpu_flash/flash_kernels.h"
#include "backends/cpu_flash/plan.h"
#include "backends/cpu_flash/tile_work.h"
#include "lib/batch/forward_batch.h"

namespace attnbench::cpu_flash {

/// Unnormalised outputs of split rows, their maxima (over ln 2) and sums; all items' together.
struct Partials {
  float* out = nullptr;  ///< [partial_rows, padded dv + gap]
  float* highest = nullptr;
  float* sum = nullptr;
};

/// Bytes of one thread's scratch for a plan, a multiple of 256; vectors have `lanes` floats.
[[nodiscard]] std::size_t scratch_bytes(const WorkPlan& plan, const AttentionLayer& layer,
                                        std::int64_t lanes);
/// One for each head of an item.
[[nodiscard]] std::vector<Scratch> scratch_at(std::byte* memory, const WorkPlan& plan,
                                              const AttentionLayer& layer, std::int64_t lanes);

/// Computes one item into the output, or into the partial results.
void run_item(const ForwardBatch& batch, const Item& planned, const Kernels& kernels,
              std::span<const Scratch> scratch, const Partials& partials);

/// Merges row `row` of the merge's rows over its splits, first to last, into the output.
void merge_row(const ForwardBatch& batch, const Merge& merge, std::int64_t row,
               const Kernels& kernels, const Partials& partials, float* out);

}  // namespace attnbench::cpu_flash
