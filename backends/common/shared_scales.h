// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/batch/problem.h"

namespace attnbench {

/// The problem for a backend to which scales of heads and of requests are what a scale of the
/// tensor is: one number for all rows that a tile of queries reads.
[[nodiscard]] inline Problem with_tensor_scale(Problem problem) {
  KvScales& scales = problem.cache.scales;
  if (scales == KvScales::kHead || scales == KvScales::kRequest) scales = KvScales::kTensor;
  return problem;
}

}  // namespace attnbench
