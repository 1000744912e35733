// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "lib/device/device.h"
#include "lib/run/timed_selftest.h"
#include "lib/selftest/selftest.h"

namespace attnbench {

/// The result of the selftest on one device.
struct DeviceSelftest {
  std::string device;  ///< "cpu", "cuda"
  DeviceInfo info;
  std::string absence;  ///< why it was left out; then there is no matrix
  SelftestMatrix matrix;
  TimedSelftest timed;

  [[nodiscard]] bool sound() const { return !absence.empty() || (matrix.sound() && timed.sound()); }
};

/// Runs the selftest on a device. A missing device is an error only when the user asked for it.
[[nodiscard]] DeviceSelftest run_selftest_on(const std::string& device, bool asked_for);

/// What the tables show.
void write_selftest_legend(std::ostream& out);
/// `reasons`: below each fault, what the first fill that catches it says.
void write_selftest_table(const DeviceSelftest& part, bool reasons, std::ostream& out);
void write_selftest_json(const std::vector<DeviceSelftest>& parts, std::ostream& out);

}  // namespace attnbench
