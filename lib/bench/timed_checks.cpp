// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/timed_checks.h"

#include <fmt/format.h>

#include <exception>

namespace attnbench {
namespace {

struct Comparison {
  std::size_t cell = 0;
  WatchedSamples::Kept kept;
  std::string fault;
};

/// 1204 as "1,204".
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

}  // namespace

std::vector<SampleChecks> check_timed_samples(const Case& c, std::span<const CheckedCell> cells) {
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (WatchedSamples::Kept& kept : cells[i].samples->kept()) {
      comparisons.push_back({i, std::move(kept), {}});
    }
  }
  std::exception_ptr failure;  // must not leave the parallel region on its own
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    Comparison& each = comparisons[i];
    try {
      each.fault = fault_of_sample(c, cells[each.cell].numerics, each.kept.outputs.number,
                                   each.kept.outputs.rows);
    } catch (...) {
#pragma omp critical(attnbench_timed_checks_failure)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);

  std::vector<SampleChecks> checks(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (const std::string& damage = cells[i].samples->damage(); !damage.empty()) {
      checks[i].fault = fmt::format("{} while {} were timed", damage, cells[i].launch);
    }
  }
  for (const Comparison& each : comparisons) {
    SampleChecks& check = checks[each.cell];
    ++check.compared;
    if (each.fault.empty() || !check.fault.empty()) continue;
    check.fault = fmt::format("in timed sample {} of {}: {}", grouped(each.kept.ordinal),
                              cells[each.cell].launch, each.fault);
  }
  return checks;
}

}  // namespace attnbench
