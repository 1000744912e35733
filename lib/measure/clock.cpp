// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/clock.h"

#include <algorithm>
#include <chrono>

#include "lib/base/error.h"
#include "lib/measure/statistics.h"

namespace attnbench {

Clock real_clock() {
  return [] {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  };
}

HostTiming time_host(const std::function<void()>& work, int repeats) {
  expects(repeats > 0, "time_host needs at least one repeat");
  const Clock clock = real_clock();
  std::vector<double> us;
  us.reserve(static_cast<std::size_t>(repeats));
  for (int i = 0; i < repeats; ++i) {
    const double begin = clock();
    work();
    us.push_back((clock() - begin) * 1e6);
  }
  return {median(us), *std::ranges::max_element(us)};
}

}  // namespace attnbench
