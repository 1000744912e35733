// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/wrappers/merge_states.h"
#include "lib/backend/backend.h"

namespace attnbench {

/// A step that a plan makes of an engine's, for kernels that compute a part of it.
struct PartStep {
  Problem problem;
  ForwardBatch batch;
  bool has_own_requests = false;  ///< rows, lengths or a table that the engine's step has not
  // Its own, where the batch points to them instead of the engine's.
  ReqToTokenPool table{0, 0};
  KvPool pool;
  DeviceBatch indices;
};

/// Makes such a step; it lives beside the engine's.
using MakePart = std::unique_ptr<PartStep> (*)(const ForwardBatch& whole);

/// Whether a layer's rules look at no more than how far keys lie from queries: then a pass over
/// keys of which the first is not the request's first can follow them. Refuses what is no
/// self-attention, too.
[[nodiscard]] Support looks_at_distances_alone(const Problem& problem);
/// Whether, beside that, all queries see a prefix whole, whatever their places: a pass that knows
/// none can then meet its keys.
[[nodiscard]] Support sees_whole_prefix(const Problem& problem);
/// The layouts that the kernels read in pages.
[[nodiscard]] std::vector<KvLayout> layouts_in_pages(const Backend& kernels,
                                                     const Problem& problem);

/// What a pass over the keys before the step's computes: each query in its place, without sinks.
[[nodiscard]] Problem prefix_problem(const Problem& whole);

/// Where `kernels` round when a result of theirs is merged with another.
[[nodiscard]] Numerics numerics_of_merged(const Backend& kernels, const Problem& problem);

/// That pass.
[[nodiscard]] std::unique_ptr<PartStep> prefix_step(const ForwardBatch& whole);

/// Makes `step` an extend of these requests: rows of its request table, new tokens and keys.
void set_requests(PartStep& step, std::vector<std::int32_t> rows, std::vector<std::int32_t> q_lens,
                  std::vector<std::int32_t> kv_lens);

/// A step in two passes of the same kernels: all queries over a prefix, then over keys of their
/// own, merged by their LSEs. Sinks join the second pass alone, so that they count once. Where no
/// request has a prefix, the second pass is all there is. A recorded plan always has both, and goes
/// on to steps of as many requests, padding included, whose rows it leaves alone.
class PrefixMerge final : public Plan {
 public:
  /// Either pass has all query tokens of `whole` in their order. Its outputs and its index tensors
  /// are set here.
  PrefixMerge(Backend& kernels, const ForwardBatch& whole, MakePart prefix, MakePart own,
              MergeStates merge, PlanMemory& memory);

  void run(Stream& stream) override;
  /// Of both passes, the prefix's first; once where they agree.
  [[nodiscard]] std::string kernel() const override;
  [[nodiscard]] bool update(const ForwardBatch& whole, Stream& stream) override;

 private:
  MakePart make_prefix_, make_own_;
  std::unique_ptr<PartStep> prefix_, own_;  ///< of the step that was planned
  StatesToMerge states_;
  MergeStates merge_;
  PlanMemory& memory_;
  std::unique_ptr<Plan> prefix_plan_, own_plan_;  ///< the first is null where there is no prefix
};

}  // namespace attnbench
