// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "lib/result/record.h"

namespace attnbench {

/// What a wait needs of its surroundings.
struct QuietWait {
  /// Takes a second, and says what other programs did in it; unset where that is not known.
  std::function<std::optional<OtherPrograms>()> watch_a_second;
  std::function<void(const std::string& line)> progress;
  std::function<bool()> stop_requested;
};

/// That of this machine.
[[nodiscard]] std::optional<OtherPrograms> watch_a_second();

/// Waits until other programs leave the processors alone for three seconds on end, at most
/// `limit_s` seconds. Returns what a user should know: that the machine is still busy, or that
/// nothing tells; empty otherwise.
[[nodiscard]] std::string wait_until_quiet(double limit_s, const QuietWait& wait);

}  // namespace attnbench
