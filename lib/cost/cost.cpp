// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cost/cost.h"

#include <algorithm>

#include "lib/cost/family_costs.h"

namespace attnbench {

Cost count_cost(const Case& c) {
  return c.layer.is_recurrent() ? delta_net_cost(c) : softmax_cost(c);
}

double roofline_s(const Cost& cost, const Ceilings& ceilings) {
  const auto seconds = [](std::int64_t work, double rate) {
    return rate > 0 ? static_cast<double>(work) / rate : 0.0;
  };
  return std::max(seconds(cost.bytes_unique - cost.kv_bytes_written, ceilings.read_bytes_per_s),
                  seconds(cost.flops, ceilings.flop_per_s));
}

bool exceeds(std::int64_t work, double rate, double seconds) {
  // 2 %: what a ceiling measured beside the samples may itself be off by.
  constexpr double kTolerance = 1.02;
  return rate > 0 && static_cast<double>(work) > kTolerance * rate * seconds;
}

}  // namespace attnbench
