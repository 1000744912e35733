// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/device.h"

namespace attnbench {

std::string to_string(const ClockEvents& events) {
  std::string names;
  const auto add = [&](bool set, const char* name) {
    if (!set) return;
    if (!names.empty()) names += ' ';
    names += name;
  };
  add(events.power_cap, "power_cap");
  add(events.thermal, "thermal");
  add(events.hw_slowdown, "hw_slowdown");
  return names;
}

}  // namespace attnbench
