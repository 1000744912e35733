// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/ceiling_turns.h"

#include <algorithm>

namespace attnbench {
namespace {

/// Medians of a machine at rest repeat within a percent.
constexpr double kAgree = 0.02;

constexpr double Ceilings::*kRates[] = {&Ceilings::read_bytes_per_s, &Ceilings::copy_bytes_per_s,
                                        &Ceilings::flop_per_s};

}  // namespace

Ceilings best_of_turns(int most, const std::function<Ceilings()>& measure) {
  Ceilings best = measure();
  for (int turn = 1; turn < most; ++turn) {
    const Ceilings now = measure();
    bool agree = true;
    for (const auto rate : kRates) {
      agree = agree &&
              std::min(now.*rate, best.*rate) >= (1 - kAgree) * std::max(now.*rate, best.*rate);
      best.*rate = std::max(best.*rate, now.*rate);
    }
    if (agree) break;
  }
  return best;
}

}  // namespace attnbench
