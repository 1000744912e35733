// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/backend/backend.h"

namespace attnbench {

/// The stages of StepPart::kLayer, in the order in which they run and are named.
inline constexpr std::array kLayerStages = {StepPart::kKvWrite, StepPart::kIndexWrite,
                                            StepPart::kIndexer, StepPart::kSelect,
                                            StepPart::kAttention};
inline constexpr std::array kKvPipelineStages = {StepPart::kKvWrite, StepPart::kIndexer,
                                                 StepPart::kSelect, StepPart::kAttention};
inline constexpr std::size_t kStagesOfPipeline = 3;  ///< which are the last of either
/// What a step that is_pipeline() runs. Each such step has a number of its own.
[[nodiscard]] constexpr std::span<const StepPart> stages_of(StepPart step) {
  if (writes_index(step)) return kLayerStages;
  const std::span<const StepPart> stages = kKvPipelineStages;
  return writes_kv(step) ? stages : stages.last(kStagesOfPipeline);
}
/// The stages of a pipeline of so many members; none: there is no such pipeline.
[[nodiscard]] constexpr std::span<const StepPart> stages_of(std::size_t members) {
  for (const StepPart step : kStepParts) {
    if (is_pipeline(step) && stages_of(step).size() == members) return stages_of(step);
  }
  return {};
}

/// What a pipeline is whose members, in the order of its stages, are these: their properties that
/// hold for all.
[[nodiscard]] BackendInfo pipeline_info(std::string name, std::span<const BackendInfo> members);

/// A layer's choice of keys and its attention (StepPart::kPipeline) by three backends, or first the
/// write of its keys and values by a fourth one (StepPart::kKvPipeline), and that of its index keys
/// by a fifth (StepPart::kLayer), whose plans run one after the other on one stream. The selector
/// reads the logits that the indexer has just left, and the attention backend the lists of the
/// selector. It knows their lengths when it plans, as in an engine, and nothing else of them: the
/// host's lists are empty entries. A recorded plan is updated to the next step where the plans of
/// all members are.
class PipelineBackend final : public Backend {
 public:
  /// `info` is pipeline_info() of the members.
  PipelineBackend(BackendInfo info, std::vector<std::unique_ptr<Backend>> members);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  /// A refusal names the backend that refuses.
  [[nodiscard]] Support supports(const Problem& problem) const override;
  /// The attention backend's, as are the roundings: those of the indexer are in the bounds of its
  /// logits.
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  [[nodiscard]] std::span<const StepPart> stages() const { return stages_of(members_.size()); }

  BackendInfo info_;
  std::vector<std::unique_ptr<Backend>> members_;
};

}  // namespace attnbench
