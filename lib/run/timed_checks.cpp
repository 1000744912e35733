// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/timed_checks.h"

#include <fmt/format.h>

#include <exception>

namespace attnbench {
namespace {

struct Comparison {
  std::size_t cell = 0;
  WatchedSamples::Kept kept;
  SampleError error;
};

/// 1204 as "1,204".
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string in_sample(std::int64_t ordinal, const CheckedCell& cell, const std::string& fault) {
  return fmt::format("in timed sample {} of {}: {}", grouped(ordinal), cell.launch, fault);
}

/// What shows in each of a cell's samples, not only in those whose rows are compared.
std::string fault_of_all_samples(const Case& c, const CheckedCell& cell) {
  if (const std::string& damage = cell.samples->damage(); !damage.empty()) {
    return fmt::format("{} while {} were timed", damage, cell.launch);
  }
  for (const WatchedSamples::Unwritten& each : cell.samples->unwritten()) {
    const std::string fault =
        fault_of_unwritten(steps_of(c)[each.step], cell.numerics[each.step], each.found);
    if (!fault.empty()) return in_sample(each.ordinal, cell, fault);
  }
  return {};
}

}  // namespace

std::vector<SampleChecks> check_timed_samples(const Case& c, std::span<const CheckedCell> cells) {
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (WatchedSamples::Kept& kept : cells[i].samples->kept()) {
      comparisons.push_back({i, std::move(kept), {}});
    }
  }
  // As the reference has it: where there is less to do, other threads come too late.
  constexpr std::int64_t kWorthATeam = 1 << 16;
  const std::int64_t elements =
      std::ssize(comparisons) * c.kv_tokens() * (c.layer.head_dim_qk + c.layer.head_dim_v);
  std::exception_ptr failure;  // must not leave the parallel region on its own
#pragma omp parallel for schedule(dynamic) if (elements > kWorthATeam)
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    Comparison& each = comparisons[i];
    try {
      each.error = error_of_sample(c, cells[each.cell].numerics, each.kept.outputs.number,
                                   each.kept.outputs.rows);
    } catch (...) {
#pragma omp critical(attnbench_timed_checks_failure)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);

  std::vector<SampleChecks> checks(cells.size());
  std::vector<SampleError> pooled(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    checks[i].fault = fault_of_all_samples(c, cells[i]);
    if (const std::string& damage = cells[i].samples->odd_damage(); !damage.empty()) {
      checks[i].doubt = text_of_odd_damage(
          fmt::format("{} while {} were timed", damage, cells[i].launch), "visit");
    }
  }
  for (const Comparison& each : comparisons) {
    SampleChecks& check = checks[each.cell];
    ++check.compared;
    pooled[each.cell].add(each.error);
    if (each.error.fault.empty() || !check.fault.empty()) continue;
    check.fault = in_sample(each.kept.ordinal, cells[each.cell], each.error.fault);
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double ratio = pooled[i].rms_ratio();
    if (!checks[i].fault.empty() || ratio <= kMistrustedRms) continue;
    const std::string data = fmt::format("{} rows of {} timed samples of {}", pooled[i].rows,
                                         checks[i].compared, cells[i].launch);
    std::string& to = ratio > kIncorrectRms ? checks[i].fault : checks[i].doubt;
    if (to.empty()) to = text_of_rms(ratio, data);
  }
  return checks;
}

}  // namespace attnbench
