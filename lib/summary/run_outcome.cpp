// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/run_outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <utility>
#include <vector>

#include "lib/base/exit_code.h"
#include "lib/base/printable.h"

namespace attnbench {
namespace {

int code(ExitCode exit_code) { return static_cast<int>(exit_code); }

/// What --strict refuses: a cell that is not a converged, trusted measurement.
bool inconclusive(const Record& record) {
  return record.verdict() == Verdict::kMistrusted || record.verdict() == Verdict::kSkipped ||
         (record.is_timed() && record.timing.status != MeasureStatus::kConverged);
}

/// The message with the first reasons, each with the backends that gave it.
std::string nothing_measured(const std::vector<Record>& records) {
  constexpr std::size_t kMostReasons = 5;
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const Record& record : records) {
    auto known = std::ranges::find(reasons, record.reason(), [](const auto& r) { return r.first; });
    if (known == reasons.end()) known = reasons.insert(known, {record.reason(), {}});
    if (std::ranges::find(known->second, record.backend) == known->second.end()) {
      known->second.push_back(record.backend);
    }
  }
  std::string text = "error: nothing was measured";
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostReasons); ++i) {
    const auto& [reason, backends] = reasons[i];
    text += fmt::format("\n   {}: {}", fmt::join(backends, ", "), reason);
  }
  if (reasons.size() > kMostReasons) {
    const std::size_t more = reasons.size() - kMostReasons;
    text += fmt::format("\n   and {} more {}", more, more == 1 ? "reason" : "reasons");
  }
  return printable(text);
}

}  // namespace

RunOutcome judge_run(const RunResult& run, const RunCircumstances& circumstances) {
  const auto& records = run.records;
  const auto timed = std::ranges::count_if(records, &Record::is_timed);
  // A wrong result dominates: a caller that sees anything else may take the run for a pass.
  if (std::ranges::any_of(records, &Record::has_failed)) {
    return {code(ExitCode::kIncorrect), {}};
  }
  if (circumstances.signal != 0) {
    return {128 + circumstances.signal,
            fmt::format("stopped by signal {}: {} of {} cells were measured and are kept",
                        circumstances.signal, timed, records.size())};
  }
  if (circumstances.output_closed) {
    return {128 + SIGPIPE, fmt::format("standard output was closed: {} of {} cells were measured",
                                       timed, records.size())};
  }
  if (!circumstances.failure.empty()) {
    return {code(ExitCode::kEnvironment),
            fmt::format("error: {}: {} of {} cells were measured and are kept",
                        printable(circumstances.failure), timed, records.size())};
  }
  if (!circumstances.outputs_written) return {code(ExitCode::kEnvironment), {}};
  if (circumstances.output_failed) {
    return {code(ExitCode::kEnvironment), "error: cannot write standard output"};
  }
  const auto defect = std::ranges::find(records, HarnessError::kDefect, &Record::harness_error);
  if (defect != records.end()) {
    return {code(ExitCode::kInternal),
            fmt::format("error: {}, {}: {}\n"
                        "   this is a defect; please report it with the command line; the other "
                        "cells are kept: {} of {} were measured",
                        defect->case_id, defect->backend, defect->reason(), timed, records.size())};
  }
  if (timed == 0 && std::ranges::find(records, HarnessError::kEnvironment,
                                      &Record::harness_error) != records.end()) {
    return {code(ExitCode::kEnvironment),
            "error: nothing was measured: this machine cannot do it; each cell says why"};
  }
  if (timed == 0) return {code(ExitCode::kUsage), nothing_measured(records)};
  if (circumstances.requirement_unchecked) {
    return {code(ExitCode::kInconclusive),
            "--no-verify: verify: {batch_invariant: required} was not checked"};
  }
  if (circumstances.strict && std::ranges::any_of(records, inconclusive)) {
    return {code(ExitCode::kInconclusive),
            "--strict: some cells are noisy, mistrusted or were skipped"};
  }
  return {};
}

}  // namespace attnbench
