// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "lib/cost/cost.h"
#include "lib/device/device.h"
#include "lib/session/index_timing.h"

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

}  // namespace attnbench
