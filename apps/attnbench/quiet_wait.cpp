// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/quiet_wait.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "apps/attnbench/progress_line.h"
#include "lib/run/processor_load.h"

namespace attnbench {
namespace {

constexpr int kQuietSeconds = 3;

std::string busy_text(const OtherPrograms& others) {
  return fmt::format("other programs keep {:.1f} of {} processors busy", others.busy_processors,
                     others.processors);
}

}  // namespace

std::optional<OtherPrograms> watch_a_second() {
  const ProcessorLoad load;
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const OtherPrograms others = load.others();
  return others.known() ? std::optional(others) : std::nullopt;
}

std::string wait_until_quiet(double limit_s, const QuietWait& wait) {
  int quiet_s = 0;
  OtherPrograms others;
  for (int waited_s = 0; waited_s < limit_s; ++waited_s) {
    if (wait.stop_requested()) return {};
    const std::optional<OtherPrograms> seen = wait.watch_a_second();
    if (!seen) return "note: --quiet-wait: this system does not say how busy it is";
    others = *seen;
    quiet_s = others.disturb() ? 0 : quiet_s + 1;
    if (quiet_s == kQuietSeconds) return {};
    wait.progress(fmt::format("waiting, {} of at most {} · {}", rough_time(waited_s + 1),
                              rough_time(limit_s), busy_text(others)));
  }
  return fmt::format(
      "note: after {} of --quiet-wait {}; in a container, all programs of the machine count",
      rough_time(limit_s), busy_text(others));
}

}  // namespace attnbench
