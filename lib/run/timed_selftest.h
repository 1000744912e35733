// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/selftest/fault.h"
#include "lib/session/devices.h"
#include "lib/verify/verdict.h"

namespace attnbench {

/// What a run said of one mutant in one launch mode: the first failure over all cases.
struct TimedVerdict {
  LaunchMode launch = LaunchMode::kEager;
  Verdict verdict = Verdict::kNotVerified;
  std::string reason;
};

struct TimedSelftestRow {
  TimedFault fault = TimedFault::kNone;
  std::vector<TimedVerdict> by_launch;

  /// Failed in every launch mode in which its fault shows, and in no other.
  [[nodiscard]] bool judged_rightly() const;
};

/// Whole runs, verification and timing, of a correct backend and of backends that are wrong in
/// their timed launches only.
struct TimedSelftest {
  TimedSelftestRow correct;
  std::vector<TimedSelftestRow> mutants;

  [[nodiscard]] bool sound() const;
};

/// On the last of `devices`; the first is the processor. A GPU runs eager launches and graphs.
[[nodiscard]] TimedSelftest run_timed_selftest(const Devices& devices,
                                               const std::vector<TimedFault>& faults);

}  // namespace attnbench
