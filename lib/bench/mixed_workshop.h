// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lib/bench/workshop.h"

namespace attnbench {

/// Backends work in this process, except those with a host process of their own.
class MixedWorkshop final : public Workshop {
 public:
  /// Both must outlive it.
  MixedWorkshop(Workshop& here, Workshop& elsewhere) : here_(&here), elsewhere_(&elsewhere) {}

  [[nodiscard]] DeviceInfo host() const override { return here_->host(); }
  [[nodiscard]] std::vector<RunDevice> prepare(
      std::span<const Registry::Entry* const> backends) override;
  [[nodiscard]] std::unique_ptr<BackendWork> begin(const Case& c,
                                                   const Registry::Entry& entry) override;

 private:
  Workshop* here_;
  Workshop* elsewhere_;
};

}  // namespace attnbench
