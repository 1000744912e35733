// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/backend/backend.h"

namespace attnbench {

/// What a pipeline is whose members, in this order, score keys, select them and attend to them:
/// their properties that hold for all three.
[[nodiscard]] BackendInfo pipeline_info(std::string name, const BackendInfo& indexer,
                                        const BackendInfo& selector, const BackendInfo& attention);

/// A layer's choice of keys and its attention (StepPart::kPipeline) by three backends, whose plans
/// run one after the other on one stream. The selector reads the logits that the indexer has just
/// left, and the attention backend the lists of the selector. It knows their lengths when it plans,
/// as in an engine, and nothing else of them: the host's lists are empty entries. A recorded plan
/// is updated to the next step where the plans of all three are.
class PipelineBackend final : public Backend {
 public:
  /// `info` is pipeline_info() of them.
  PipelineBackend(BackendInfo info, std::unique_ptr<Backend> indexer,
                  std::unique_ptr<Backend> selector, std::unique_ptr<Backend> attention);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  /// A refusal names the backend that refuses.
  [[nodiscard]] Support supports(const Problem& problem) const override;
  /// The attention backend's, as are the roundings: those of the indexer are in the bounds of its
  /// logits.
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
  std::unique_ptr<Backend> indexer_, selector_, attention_;
};

}  // namespace attnbench
