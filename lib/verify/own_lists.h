// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/scenario/case.h"
#include "lib/verify/observation.h"
#include "lib/verify/verify.h"

namespace attnbench {

// Attention in a pipeline is judged over the lists that its own selector left: other ones are as
// right where scores are equal, or closer than the indexer computes them.

/// The case with these lists, [groups, topk] for each of `rows`. No list of another query token
/// names a key. Entries that are no unit of the request are none, too: they are the selector's
/// fault.
[[nodiscard]] Case over_lists(const Case& c, std::span<const RowId> rows,
                              std::span<const std::int32_t> lists);

/// The case and the truth that the fills of an observation are compared with: those that are given,
/// or, of a pipeline, those of its lists. What is given outlives it.
class JudgedFills {
 public:
  JudgedFills(const Case& c, const Observation& observed, std::span<const FillTruth> truth);

  [[nodiscard]] const Case& case_of(std::size_t fill) const {
    return fill < cases_.size() ? cases_[fill] : *c_;
  }
  [[nodiscard]] std::span<const FillTruth> truth() const { return truth_; }
  /// Those of passing_null_candidate(): fills whose rows see the same keys.
  [[nodiscard]] std::string passing_null_candidate(const Numerics& declared) const;

 private:
  const Case* c_;
  std::vector<Case> cases_;     ///< of a pipeline, one a fill
  std::vector<FillTruth> own_;  ///< likewise
  std::span<const FillTruth> truth_;
};

}  // namespace attnbench
