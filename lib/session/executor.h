// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/session/run_device.h"
#include "lib/session/session.h"

namespace attnbench {

/// Where the sessions of a run live: in this process, or in children.
class Executor {
 public:
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// The processor of this machine.
  [[nodiscard]] virtual DeviceInfo host() const = 0;
  /// The devices that `backends` need, their timers checked and their ceilings measured. Throws
  /// EnvironmentError.
  [[nodiscard]] virtual std::vector<RunDevice> prepare(
      std::span<const Registry::Entry* const> backends) = 0;
  /// `entry` is present and its device one of those prepared. Case and entry outlive the result.
  /// `rounds`: the most that a cell takes; more placements in memory would not be used.
  [[nodiscard]] virtual std::unique_ptr<Session> begin(const Case& c, const Registry::Entry& entry,
                                                       int rounds) = 0;

 protected:
  Executor() = default;
};

}  // namespace attnbench
