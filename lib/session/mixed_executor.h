// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lib/session/executor.h"

namespace attnbench {

/// Backends work in this process, except those with a host process of their own.
class MixedExecutor final : public Executor {
 public:
  /// Both must outlive it.
  MixedExecutor(Executor& here, Executor& elsewhere) : here_(&here), elsewhere_(&elsewhere) {}

  [[nodiscard]] DeviceInfo host() const override { return here_->host(); }
  [[nodiscard]] std::vector<RunDevice> prepare(
      std::span<const Registry::Entry* const> backends) override;
  [[nodiscard]] std::unique_ptr<Session> begin(const Case& c, const Registry::Entry& entry,
                                               int rounds) override;

 private:
  Executor* here_;
  Executor* elsewhere_;
};

}  // namespace attnbench
