// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lib/run/watched_samples.h"
#include "lib/verify/verify.h"

namespace attnbench {

/// What comparing the timed samples of a cell with the reference found.
struct SampleChecks {
  int compared = 0;  ///< samples whose rows were compared
  std::string
      fault;  ///< of the first wrong sample, or what a visit damaged; empty when all is well
  std::string doubt;  ///< why right samples prove little; empty when they do not
};

/// A cell whose samples are taken.
struct CheckedCell {
  const WatchedSamples* samples = nullptr;
  std::vector<Numerics> numerics;  ///< of the backend, for each step of the case
  std::string launch;              ///< "the eager launches", "the graph"
};

/// Compares what `cells` kept, all of one case, with the reference of each sample's own contents.
/// One result a cell, in their order. Uses OpenMP over the samples.
[[nodiscard]] std::vector<SampleChecks> check_timed_samples(const Case& c,
                                                            std::span<const CheckedCell> cells);

}  // namespace attnbench
