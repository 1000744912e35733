// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/settled_clock.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace attnbench {
namespace {

/// GPUs leave their idle clock within tens of milliseconds and their governor acts every few: three
/// such windows tell a settled clock, and cost a cell on a warm device 0.06 s.
constexpr double kWindowS = 0.020;
constexpr std::size_t kAlike = 3;
constexpr double kTolerance = 0.01;
constexpr int kMostWindows = 150;  ///< 3 s

}  // namespace

double settled_clock_mhz(const std::function<double(double seconds)>& run_for) {
  std::vector<double> last;
  for (int window = 0; window < kMostWindows; ++window) {
    const double mhz = run_for(kWindowS);
    if (!(mhz > 0)) return 0;
    last.push_back(mhz);
    if (last.size() > kAlike) last.erase(last.begin());
    const auto [least, most] = std::ranges::minmax(last);
    if (last.size() == kAlike && most - least <= kTolerance * most) break;
  }
  return last.back();
}

}  // namespace attnbench
