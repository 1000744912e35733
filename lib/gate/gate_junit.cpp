// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>
#include <string>

#include "lib/gate/gate_sinks.h"
#include "lib/gate/gate_text.h"
#include "lib/view/junit.h"

namespace attnbench {
namespace {

JunitCase::Outcome outcome_of(const Comparison& each, bool strict) {
  using enum JunitCase::Outcome;
  const GateVerdict verdict = each.judgement.verdict;
  const bool fails_always = each.counts() && verdict <= GateVerdict::kNotComparable;
  if (fails_always || (strict && is_harm(each))) return kFailure;
  return verdict == GateVerdict::kSame || verdict == GateVerdict::kImproved ? kPassed : kSkipped;
}

}  // namespace

void write_gate_junit(const GateReport& report, bool strict, std::ostream& out) {
  JunitSuite suite{.name = "attnbench gate", .cases = {}};
  for (const Comparison& each : report.cells) {
    const std::string change =
        each.speed ? change_text(each.speed->time.median) + ' ' + interval_text(each.speed->time)
                   : std::string();
    suite.cases.push_back({.class_name = each.cell.scenario,
                           .name = fmt::format("{}/{}/{}", each.cell.case_id, each.cell.backend,
                                               mode_text(each.cell)),
                           .outcome = outcome_of(each, strict),
                           .word = verdict_text(each),
                           .reason = fmt::format("{} {}", change, why_text(each)),
                           .details = each.repro});
  }
  write_junit_suite(suite, out);
}

}  // namespace attnbench
