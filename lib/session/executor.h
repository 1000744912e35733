// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/cost/cost.h"
#include "lib/device/device.h"
#include "lib/session/index_timing.h"
#include "lib/session/session.h"

namespace attnbench {

/// A device that takes part in a run, of this process or of its children.
struct RunDevice {
  DeviceInfo info;
  Ceilings ceilings;
  IndexTiming index;              ///< of the case under way
  std::string lost;               ///< why nothing can run on it any more; empty while it works
  double ceilings_s = 0;          ///< that measuring the ceilings took
  std::string ceilings_utc = {};  ///< when an earlier run measured them; empty: this one did
  /// Measures the ceilings again, before they call a figure impossible; empty once it has.
  std::function<Ceilings()> measure_again = {};
};

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
