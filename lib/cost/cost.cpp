// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cost/cost.h"

#include <algorithm>

#include "lib/base/count.h"
#include "lib/cost/family_costs.h"

namespace attnbench {

namespace {

Cost cost_of_parts(const std::vector<Case>& parts) {
  Cost sum;
  for (const Case& part : parts) {
    const Cost cost = count_cost(part);
    for (const auto member :
         {&Cost::visible_pairs, &Cost::flops, &Cost::bytes_unique, &Cost::bytes_streamed,
          &Cost::kv_bytes_unique, &Cost::kv_bytes_streamed, &Cost::kv_bytes_written}) {
      sum.*member = (Count(sum.*member) + cost.*member).value();
    }
  }
  return sum;
}

}  // namespace

Cost count_cost(const Case& c) {
  if (!c.parts.empty()) return cost_of_parts(c.parts);
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
