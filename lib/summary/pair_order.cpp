// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/pair_order.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace attnbench {
namespace {

bool beats(const CellLogs& one, const CellLogs& other) {
  std::size_t common = 0;
  double difference = 0;
  for (const auto& [cell, log] : one) {
    const auto same = other.find(cell);
    if (same == other.end()) continue;
    ++common;
    difference += log - same->second;
  }
  return difference < 0 && 2 * common >= std::max(one.size(), other.size());
}

}  // namespace

std::vector<std::size_t> pair_order(const std::vector<CellLogs>& backends) {
  std::vector<std::size_t> by_count(backends.size());
  std::iota(by_count.begin(), by_count.end(), std::size_t{0});
  std::ranges::stable_sort(by_count, std::ranges::greater{},
                           [&](std::size_t i) { return backends[i].size(); });
  std::vector<std::size_t> order;
  for (const std::size_t i : by_count) {
    const auto beaten = std::ranges::find_if(
        order, [&](std::size_t other) { return beats(backends[i], backends[other]); });
    order.insert(beaten, i);
  }
  return order;
}

}  // namespace attnbench
