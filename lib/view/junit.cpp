// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/view/junit.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string_view>

#include "lib/view/xml_text.h"

namespace attnbench {
namespace {

std::string attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, xml_escaped(value));
}

/// JUnit's times are in seconds, decimals without exponent.
std::string time_attribute(const std::optional<double>& seconds, int digits) {
  return seconds ? attribute("time", fmt::format("{:.{}f}", *seconds, digits)) : std::string();
}

std::string outcome_element(const JunitCase& each) {
  using enum JunitCase::Outcome;
  if (each.outcome == kPassed) return {};
  if (each.outcome == kSkipped) {
    return fmt::format("      <skipped{}/>\n",
                       attribute("message", each.word + ": " + each.reason));
  }
  return fmt::format("      <{0}{1}{2}>{3}</{0}>\n", each.outcome == kError ? "error" : "failure",
                     attribute("type", each.word), attribute("message", each.reason),
                     xml_escaped(each.details));
}

}  // namespace

void write_junit_suite(const JunitSuite& suite, std::ostream& out) {
  using enum JunitCase::Outcome;
  const auto count = [&](JunitCase::Outcome outcome) {
    return std::ranges::count(suite.cases, outcome, &JunitCase::outcome);
  };
  const std::string totals = fmt::format(
      " tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"{}", suite.cases.size(),
      count(kFailure), count(kError), count(kSkipped), time_attribute(suite.seconds, 3));
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      << "<testsuites" << totals << ">\n  <testsuite" << attribute("name", suite.name)
      << (suite.timestamp.empty() ? "" : attribute("timestamp", suite.timestamp)) << totals
      << ">\n";
  for (const JunitCase& each : suite.cases) {
    const std::string outcome = outcome_element(each);
    out << "    <testcase" << attribute("classname", each.class_name)
        << attribute("name", each.name) << time_attribute(each.seconds, 9)
        << (outcome.empty() ? "/>\n" : ">\n" + outcome + "    </testcase>\n");
  }
  out << "  </testsuite>\n</testsuites>\n";
}

}  // namespace attnbench
