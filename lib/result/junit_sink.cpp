// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <ostream>
#include <string>
#include <utility>

#include "lib/result/record_text.h"
#include "lib/result/sinks.h"
#include "lib/view/junit.h"

namespace attnbench {
namespace {

/// An error is what the exit code reports although no answer was wrong: a backend that crashed, or
/// attnbench itself failed.
JunitCase::Outcome outcome_of(const Record& r) {
  using enum JunitCase::Outcome;
  if (r.verdict() == Verdict::kCrashed || r.harness_error() == HarnessError::kDefect) return kError;
  if (r.has_failed()) return kFailure;
  const bool left_out = r.verdict() == Verdict::kUnsupported || r.verdict() == Verdict::kSkipped;
  return left_out ? kSkipped : kPassed;
}

}  // namespace

void write_junit(const RunResult& run, std::ostream& out) {
  JunitSuite suite{.name = scenario_names(run),
                   .timestamp = run.environment.started_utc,
                   .seconds = run.wall_s,
                   .cases = {}};
  for (const Record& r : run.records) {
    suite.cases.push_back({.class_name = r.scenario + "." + r.mix,
                           .name = cell_name(run, r),
                           .outcome = outcome_of(r),
                           .word = verdict_word(r),
                           .reason = r.reason(),
                           .details = r.repro,
                           // A cell that claims no speed shows none.
                           .seconds = r.claims_speed() ? r.timing.median_us / 1e6 : 0.0});
  }
  write_junit_suite(suite, out);
}

}  // namespace attnbench
