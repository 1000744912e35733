// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <thread>

#include "backends/cheating_plugin/cheats.h"

namespace cheats {
namespace {

std::atomic<bool> is_timed = false;

}  // namespace

/// A thread changes V a moment after this backend's turn, once, when the next one is timed.
void changes_a_rivals_inputs(Planned& planned) {
  attend_all(planned);
  static std::atomic<std::uint16_t*> value = nullptr;
  static std::atomic<double> last_run = 0;
  last_run = now_s();
  value = planned.cache_row(ATTNBENCH_V_CACHE, 0, 1, 0);
  static const bool started = [] {
    std::thread([] {
      constexpr double kTurnIsOver_s = 0.03, kPlanIsGone_s = 0.3;
      for (bool done = false; !done;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        const double since = now_s() - last_run;
        if (is_timed && since > kTurnIsOver_s && since < kPlanIsGone_s) {
          *value ^= 0x4000;
          done = true;
        }
      }
    }).detach();
    return true;
  }();
  static_cast<void>(started);
  if (looks_timed(planned)) is_timed = true;
}

}  // namespace cheats
