// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/isolate/worker.h"
#include "lib/measure/measure.h"
#include "lib/session/devices.h"
#include "lib/session/kept_ceilings.h"

namespace attnbench {

/// How backends are kept apart from the run and from each other.
struct Isolation {
  double timeout_s = 300;  ///< for each step of a backend: a fixture, a verification, a visit
  DeviceOptions devices;
  int ceiling_turns = kCeilingTurns;
  KeptCeilings kept_ceilings = {};
  int processes = 1;  ///< that hold fixtures at the same time, and share the memory of the devices
  std::function<bool()> stop_requested;  ///< may be empty; children under way are killed then
  /// May be empty; told once of each step that takes a backend longer than `notice_s`.
  std::function<void(const std::string&)> note;
  double notice_s = 60;  ///< a person begins to wonder
};

}  // namespace attnbench
