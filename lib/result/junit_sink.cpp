// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "lib/result/record_text.h"
#include "lib/result/sinks.h"
#include "lib/view/xml_text.h"

namespace attnbench {
namespace {

/// What the exit code reports although no answer was wrong: a backend that crashed, or attnbench
/// itself failed.
bool is_error(const Record& r) {
  return r.verdict() == Verdict::kCrashed || r.trouble() == Trouble::kDefect;
}

bool is_wrong(const Record& r) { return r.has_failed() && !is_error(r); }

bool is_left_out(const Record& r) {
  return !is_error(r) && (r.verdict() == Verdict::kUnsupported || r.verdict() == Verdict::kSkipped);
}

std::string outcome_of(const Record& r) {
  const std::string word = xml_escaped(verdict_word(r));
  const std::string reason = xml_escaped(r.reason());
  if (is_error(r) || is_wrong(r)) {
    // JUnit tells an error from a wrong answer, which is a failure.
    const char* tag = is_error(r) ? "error" : "failure";
    return fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", tag, word, reason,
                       xml_escaped(r.repro));
  }
  if (is_left_out(r)) {
    return fmt::format("      <skipped message=\"{}: {}\"/>\n", word, reason);
  }
  return {};
}

}  // namespace

void write_junit(const RunResult& run, std::ostream& out) {
  const auto count = [&](auto&& condition) {
    return std::ranges::count_if(run.records, condition);
  };
  const std::string totals = fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
      run.records.size(), count(is_wrong), count(is_error), count(is_left_out), run.wall_s);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites {}>\n  <testsuite name=\"{}\" timestamp=\"{}\" {}>\n", totals,
                      xml_escaped(scenario_names(run)), xml_escaped(run.environment.started_utc),
                      totals);
  for (const Record& r : run.records) {
    const std::string outcome = outcome_of(r);
    // JUnit's time is in seconds, a decimal without exponent; a cell that claims no speed shows
    // none.
    text += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.9f}\"",
                        xml_escaped(r.scenario + "." + r.mix), xml_escaped(cell_name(run, r)),
                        r.claims_speed() ? r.timing.median_us / 1e6 : 0.0);
    text += outcome.empty() ? "/>\n" : ">\n" + outcome + "    </testcase>\n";
  }
  text += "  </testsuite>\n</testsuites>\n";
  out << text;
}

}  // namespace attnbench
