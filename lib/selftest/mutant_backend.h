// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "lib/backend/backend.h"
#include "lib/selftest/fault.h"

namespace attnbench {

/// A correct backend, simple on purpose, with one fault put in: shows that the checks can fail. It
/// shares no code with any other backend. On a GPU it is a kernel of the same lines (mutant_row.h).
class MutantBackend final : public Backend {
 public:
  explicit MutantBackend(Fault fault, DeviceKind device = DeviceKind::kCpu);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    if (problem.multi_item) return Support::no("no multi-item scoring");
    return problem.layer.is_recurrent() && info_.device == DeviceKind::kCuda
               ? Support::no("mutants of recurrent layers run on a CPU only")
               : Support::yes();
  }
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  Fault fault_;
  BackendInfo info_;
};

}  // namespace attnbench
