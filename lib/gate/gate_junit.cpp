// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "lib/gate/gate_sinks.h"
#include "lib/gate/gate_text.h"
#include "lib/view/xml_text.h"

namespace attnbench {
namespace {

bool fails_always(const Comparison& each) {
  return each.counts() && each.judgement.verdict <= GateVerdict::kNotComparable;
}

}  // namespace

void write_gate_junit(const GateReport& report, bool strict, std::ostream& out) {
  const auto fails = [&](const Comparison& each) {
    return fails_always(each) || (strict && is_harm(each));
  };
  const auto left_out = [&](const Comparison& each) {
    const GateVerdict verdict = each.judgement.verdict;
    return !fails(each) && verdict != GateVerdict::kSame && verdict != GateVerdict::kImproved;
  };
  const std::string totals = fmt::format(
      "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"", report.cells.size(),
      std::ranges::count_if(report.cells, fails), std::ranges::count_if(report.cells, left_out));
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuites {0}>\n  <testsuite name=\"attnbench gate\" {0}>\n", totals);
  for (const Comparison& each : report.cells) {
    text += fmt::format("    <testcase classname=\"{}\" name=\"{}/{}/{}\"",
                        xml_escaped(each.cell.scenario), xml_escaped(each.cell.case_id),
                        xml_escaped(each.cell.backend), xml_escaped(mode_text(each.cell)));
    const std::string word = xml_escaped(verdict_text(each));
    const std::string change =
        each.speed ? change_text(each.speed->time.median) + ' ' + interval_text(each.speed->time)
                   : std::string();
    const std::string why = xml_escaped(fmt::format("{} {}", change, why_text(each)));
    if (fails(each)) {
      text += fmt::format(">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n", word, why,
                          xml_escaped(each.repro));
      text += "    </testcase>\n";
    } else if (left_out(each)) {
      text += fmt::format(">\n      <skipped message=\"{}: {}\"/>\n    </testcase>\n", word, why);
    } else {
      text += "/>\n";
    }
  }
  text += "  </testsuite>\n</testsuites>\n";
  out << text;
}

}  // namespace attnbench
