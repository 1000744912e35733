// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "backends/splitkv/plan.h"
#include "lib/backend/backend.h"

namespace attnbench::splitkv {

/// Split-KV attention on a GPU through kv_indptr and kv_indices, after SGLang's Triton backend: the
/// keys of a few query rows are cut into pieces, whose results are merged by their LSEs. Extend
/// runs over prefix and new tokens alike, both read from the pool.
class SplitKvBackend final : public Backend {
 public:
  explicit SplitKvBackend(SplitRule rule = SplitRule::kFill);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  /// Contiguous rows that share their scales: one of the tensor, of the head or of the request.
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
  SplitRule rule_;
};

}  // namespace attnbench::splitkv
