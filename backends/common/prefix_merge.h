// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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
  DeviceBatch indices;
};

/// Whether all queries of a layer see a prefix whole, whatever their places: its keys can then be
/// met in a pass of their own, without a mask. Refuses what is no self-attention, too.
[[nodiscard]] Support sees_whole_prefix(const Problem& problem);
/// The layouts that the kernels read in pages.
[[nodiscard]] std::vector<KvLayout> layouts_in_pages(const Backend& kernels,
                                                     const Problem& problem);

/// What that pass computes: no causality, no sinks, the keys before the step's.
[[nodiscard]] Problem prefix_problem(const Problem& whole);

/// Where `kernels` round when a result of theirs is merged with another.
[[nodiscard]] Numerics numerics_of_merged(const Backend& kernels, const Problem& problem);

/// That pass over the keys before the step's.
[[nodiscard]] std::unique_ptr<PartStep> prefix_step(const ForwardBatch& whole);

/// Makes `step` an extend of these requests: rows of its request table, new tokens and keys.
void set_requests(PartStep& step, std::vector<std::int32_t> rows, std::vector<std::int32_t> q_lens,
                  std::vector<std::int32_t> kv_lens);

/// A step in two passes of the same kernels: all queries over a prefix, then over keys of their
/// own, merged by their LSEs. Sinks join the second pass alone, so that they count once. Where no
/// request has a prefix, the second pass is all there is.
class PrefixMerge final : public Plan {
 public:
  /// Either pass has all query tokens of `whole` in their order. Its outputs and its index tensors
  /// are set here.
  PrefixMerge(Backend& kernels, const ForwardBatch& whole, std::unique_ptr<PartStep> prefix,
              std::unique_ptr<PartStep> own, MergeStates merge, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  std::unique_ptr<PartStep> prefix_, own_;
  AttentionState of_prefix_, of_own_, merged_;
  MergeStates merge_;
  std::unique_ptr<Plan> prefix_plan_, own_plan_;  ///< the first is null where there is no prefix
};

}  // namespace attnbench
