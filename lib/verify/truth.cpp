// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "lib/base/error.h"
#include "lib/device/cpu/host_memory.h"
#include "lib/verify/verify.h"
#include "reference/memory_need.h"

namespace attnbench {

namespace {

/// How many fills may be evaluated at the same time.
std::size_t fills_at_once(const Case& c, std::size_t fills) {
  const std::int64_t available = available_memory_bytes();
  const auto need_of = [&](std::size_t count) {
    return reference::memory_need(c, omp_get_max_threads(), static_cast<std::int64_t>(count));
  };
  // Half: contents are made meanwhile, and other programs want memory, too.
  while (fills > 1 && need_of(fills) > available / 2) --fills;
  const std::int64_t need = need_of(fills);
  if (need <= available) return fills;
  throw EnvironmentError(
      fmt::format("the reference of {} needs {:.1f} GB of host memory; {:.1f} GB are available",
                  c.id, static_cast<double>(need) / 1e9, static_cast<double>(available) / 1e9));
}

}  // namespace

std::vector<FillTruth> compute_truth(const Case& c, const VerifyConfig& config) {
  std::vector<FillTruth> truth;
  if (!config.enabled) return truth;
  std::vector<RowId> rows;
  if (attends(c.step)) rows = reference::sample_rows(c, config.rows);
  for (const Fill fill : config.fills) truth.push_back({fill, {}});
  if (builds(c.step)) {  // what attention gives hangs on the lists that a selector leaves
    for (FillTruth& each : truth) {
      for (const RowId& id : rows) each.rows.emplace_back().id = id;
    }
    return truth;
  }
  const std::size_t most = fills_at_once(c, truth.size());
  for (std::size_t begin = 0; begin < truth.size(); begin += most) {
    const auto part = std::span(truth).subspan(begin, std::min(most, truth.size() - begin));
    std::vector<Contents> contents;
    for (const FillTruth& each : part) contents.push_back(checked_contents(c, each.fill));
    auto evaluated = reference::evaluate_rows(c, contents, rows);
    for (std::size_t i = 0; i < part.size(); ++i) part[i].rows = std::move(evaluated[i]);
  }
  return truth;
}

StepTruths compute_step_truths(const Case& c, const VerifyConfig& config) {
  StepTruths truths;
  for (const Case& step : steps_of(c)) truths.push_back(compute_truth(step, config));
  return truths;
}

}  // namespace attnbench
