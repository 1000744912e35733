// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "lib/backend/backend.h"

namespace attnbench {

/// A backend of one part of a step that builds something (StepPartRow::builds), in place of
/// attention. It reads no KV cache, so that any is taken.
class PartBackend : public Backend {
 public:
  /// `refusal` of other parts: "it selects keys only".
  PartBackend(StepPart part, const char* refusal, BackendInfo info)
      : part_(part), refusal_(refusal), info_(std::move(info)) {}

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return problem.step == part_ ? Support::yes() : Support::no(refusal_);
  }
  [[nodiscard]] std::vector<KvLayout> formats(const Problem&) const override {
    const std::span all(kPoolLayouts);
    return {all.begin(), all.end()};
  }

 private:
  StepPart part_;
  const char* refusal_;
  BackendInfo info_;
};

}  // namespace attnbench
