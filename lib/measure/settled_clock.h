// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace attnbench {

/// Calls `run_for`, which keeps the device busy for that many seconds and returns its mean clock,
/// until three successive windows lie within 1 % of each other, or for 3 s. Returns the last
/// window's clock; 0 as soon as a window has none.
[[nodiscard]] double settled_clock_mhz(const std::function<double(double seconds)>& run_for);

}  // namespace attnbench
