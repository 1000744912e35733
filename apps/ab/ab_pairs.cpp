// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/ab/ab_pairs.h"

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/system.h"
#include "lib/base/this_process.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

/// "pair 7/20 · new · 41 s left", rewritten in place on a terminal.
class AbProgress {
 public:
  AbProgress(const std::string& label, Console& console)
      : label_(label.empty() ? "" : label + " · "), console_(console) {}

  void show(int pair, int pairs, AbSide side) {
    if (!console_.err_takes_escapes) return;
    using std::chrono::steady_clock;
    if (pair == 1 && (pairs_ != pairs || done_ == 0)) {
      began_ = steady_clock::now();
      done_ = 0;
      pairs_ = pairs;
    }
    const double elapsed = std::chrono::duration<double>(steady_clock::now() - began_).count();
    const std::string left =
        done_ > 0 ? " · " + rough_time(elapsed / done_ * (2 * pairs - done_)) + " left" : "";
    console_.err << fmt::format("\r\x1b[2K{}pair {}/{} · {}{}", label_, pair, pairs,
                                to_string(side), left)
                 << std::flush;
    ++done_;
  }
  void clear() {
    if (console_.err_takes_escapes) console_.err << "\r\x1b[2K" << std::flush;
  }

 private:
  std::string label_;
  Console& console_;
  std::chrono::steady_clock::time_point began_{};
  int done_ = 0;  ///< processes of this stage that have begun
  int pairs_ = 0;
};

}  // namespace

GateReport measured_pairs(const AbPrograms& programs, const AbConfig& config,
                          std::chrono::duration<double> limit, const std::string& label,
                          Console& console) {
  const TemporaryFolder folder("ab");
  AbProgress progress(label, console);
  const auto stop = [] { return interrupt_signal() != 0; };
  bool first = true;
  const AbProcess process = [&](AbSide side, bool verify, const std::vector<CellKey>& cells) {
    const std::string json = folder.file(fmt::format("{}.json", to_string(side)));
    AbMeasurement measured =
        run_ab_process(ab_command(programs, side, verify, cells, json), json, limit, stop);
    // A command line that the first process refuses, all others refuse as well.
    if (first && measured.failure.starts_with("exited with code 4")) {
      throw ConfigError(fmt::format("the {} program {}", to_string(side), measured.failure));
    }
    first = false;
    return measured;
  };
  GateReport report = run_ab(
      process, config,
      {.progress = [&](int pair, int pairs, AbSide side) { progress.show(pair, pairs, side); },
       .stop_requested = stop});
  progress.clear();
  return report;
}

}  // namespace attnbench
