// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lib/batch/problem.h"

namespace attnbench {

/// The layouts of backends that read whole rows of K and V by their strides: in pages, best first,
/// and ragged.
[[nodiscard]] inline std::vector<KvLayout> layouts_of_whole_rows(const Problem& problem) {
  if (problem.cache.scales != KvScales::kTensor) return {};
  return {KvLayout::kNhd, KvLayout::kHnd, KvLayout::kCombined, KvLayout::kRagged};
}

}  // namespace attnbench
