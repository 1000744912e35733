// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lib/result/record.h"

namespace attnbench {

/// What the processors of this machine have done since it started, in one unit of time.
struct ProcessorTimes {
  double busy = 0, idle = 0;
  int processors = 0;
};

/// From the text of Linux's /proc/stat (man 5 proc_stat). Time that a hypervisor took for other
/// machines is busy. Unset where the text is another one.
[[nodiscard]] std::optional<ProcessorTimes> parse_processor_times(std::string_view proc_stat);

/// The processors that were busy between two readings with anything but this program, which used
/// `own_s` seconds of them in `wall_s`. Unset where the readings do not tell.
[[nodiscard]] std::optional<OtherPrograms> others_between(const ProcessorTimes& begin,
                                                          const ProcessorTimes& end, double own_s,
                                                          double wall_s);

/// Watches the machine from its construction on.
class ProcessorLoad {
 public:
  ProcessorLoad();
  /// What other programs did meanwhile; this one's children are no others. Not known where the
  /// system does not tell.
  [[nodiscard]] OtherPrograms others() const;
  [[nodiscard]] double seconds() const;  ///< since its construction

 private:
  std::optional<ProcessorTimes> times_;
  double own_s_, wall_s_;
};

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
