// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/batch_compositions.h"

#include <numeric>
#include <utility>

#include "lib/base/counter_hash.h"

namespace attnbench {

BatchComposition composition_of(const Case& c, std::vector<std::size_t> requests) {
  BatchComposition composition{std::move(requests), c};
  composition.step.requests.clear();
  composition.step.kv_cache.pool_tokens = 0;
  composition.step.padding = {};
  for (const std::size_t request : composition.requests) {
    Request copy = c.requests[request];
    if (copy.stream < 0) copy.stream = static_cast<std::int64_t>(request);
    composition.step.requests.push_back(std::move(copy));
  }
  return composition;
}

std::vector<BatchComposition> batch_compositions(const Case& c, int count) {
  std::vector<BatchComposition> all;
  const std::size_t n = c.requests.size();
  if (n == 0) return all;
  std::uint64_t state = combine(c.seed, 0xba7c4);
  const auto below = [&state](std::size_t limit) {
    state = combine(state, 1);
    return static_cast<std::size_t>(state % limit);
  };
  for (int i = 0; i < count; ++i) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::swap(order[0], order[static_cast<std::size_t>(i) % n]);  // each request has its turn
    for (std::size_t j = 1; j + 1 < n; ++j) std::swap(order[j], order[j + below(n - j)]);
    order.resize(1 + below(n));
    std::swap(order[0], order[below(order.size())]);
    all.push_back(composition_of(c, std::move(order)));
  }
  return all;
}

}  // namespace attnbench
