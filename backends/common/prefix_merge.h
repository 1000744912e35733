// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "backends/common/merge_states.h"
#include "lib/backend/backend.h"

namespace attnbench {

/// A step that a plan makes of an engine's, for kernels that compute a part of it.
struct PartStep {
  Problem problem;
  ForwardBatch batch;
  // Its own, where the batch points to them instead of the engine's.
  ReqToTokenPool table{0, 0};
  KvPool pool;
};

/// Whether all queries of a step see the whole prefix, whatever their places: its keys can then be
/// met in a pass of their own, without a mask. Refuses what is no self-attention, too.
[[nodiscard]] Support sees_whole_prefix(const Problem& problem);
/// The layouts that the kernels read in pages.
[[nodiscard]] std::vector<KvLayout> layouts_in_pages(const Backend& kernels,
                                                     const Problem& problem);

/// What that pass computes: no causality, no sinks, the keys before the step's.
[[nodiscard]] Problem prefix_problem(const Problem& whole);

/// Where `kernels` round when a result of theirs is merged with another.
[[nodiscard]] Numerics numerics_of_merged(const Backend& kernels, const Problem& problem);

/// A step in two passes of the same kernels: all queries over the keys before the step's, then over
/// those of the step, merged by their LSEs. Sinks join the second pass alone, so that they count
/// once. Where no request has a prefix, the second pass is all there is.
class PrefixMerge final : public Plan {
 public:
  /// `own` is the second pass, with the rows of `whole` in their order; its outputs are set here.
  PrefixMerge(Backend& kernels, const ForwardBatch& whole, std::unique_ptr<PartStep> own,
              MergeStates merge, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  std::unique_ptr<PartStep> prefix_, own_;
  DeviceBatch prefix_indices_, own_indices_;
  AttentionState of_prefix_, of_own_, merged_;
  MergeStates merge_;
  std::unique_ptr<Plan> prefix_plan_, own_plan_;  ///< the first is null where there is no prefix
};

}  // namespace attnbench
