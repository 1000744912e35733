// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/backend.h"

namespace attnbench {

std::vector<KvLayout> Backend::formats(const Problem& problem) const {
  if (problem.cache.scales != KvScales::kTensor) return {};
  return {KvLayout::kNhd, KvLayout::kHnd, KvLayout::kCombined};
}

bool Plan::update(const ForwardBatch&, Stream&) { return false; }

}  // namespace attnbench
