// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "lib/base/printable.h"
#include "lib/gate/gate_sinks.h"
#include "lib/gate/gate_text.h"
#include "lib/view/table.h"
#include "lib/view/text_layout.h"

namespace attnbench {
namespace {

/// `text` with every character that Markdown, HTML or GitHub could give a meaning (mentions, issue
/// numbers, links) as a numeric entity. Within <code> GitHub links nothing either.
std::string inert(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == ' ' || static_cast<unsigned char>(c) >= 0x80;
    out += plain ? std::string(1, c) : fmt::format("&#{};", static_cast<int>(c));
  }
  return out;
}

std::string code(std::string_view text) { return "<code>" + inert(text) + "</code>"; }

/// One line, for a table.
std::string flat(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string_view sign_of(const Comparison& each) {
  if (!each.counts()) return "allowed: ";
  return is_harm(each) ? "**" : "";
}

Row row_of(const Comparison& each, bool with_scenario) {
  const std::string_view sign = sign_of(each);
  const std::string why = why_text(each);
  return {{fmt::format("{}{}{}", sign, inert(verdict_text(each)), sign == "**" ? "**" : ""),
           code(each.cell.backend), code(flat(case_text(each.cell, with_scenario))),
           mode_text(each.cell), times_text(each),
           each.speed ? change_text(each.speed->time.median) : "",
           each.speed ? interval_text(each.speed->time) : "", why.empty() ? "" : code(flat(why))}};
}

}  // namespace

void write_gate_markdown(const GateReport& report, std::ostream& out) {
  const std::vector<std::string> parts = summary_parts(report);
  std::string text = fmt::format("### attnbench: {}\n\n", join_parts(parts, std::string::npos, 0));
  text +=
      fmt::format("{} against {}, {}\n\n", code(report.now), code(report.base),
                  report.confirmed ? "pairs of fresh processes, 99 % intervals" : "stored results");
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  Table table{.columns = {{"verdict", kLeft},
                          {"backend", kLeft},
                          {"case", kLeft},
                          {"cache", kLeft},
                          {"base → new", kRight},
                          {"change", kRight},
                          {"interval", kRight},
                          {"why", kLeft}}};
  const bool with_scenario = has_several_scenarios(report);
  std::string lines;
  std::size_t listed = 0;
  for (const Comparison& each : report.cells) {  // the most harmful first
    if (!is_listed(each) || ++listed > kMostListed) continue;
    table.rows.push_back(row_of(each, with_scenario));
    if (is_harm(each) && !each.repro.empty()) lines += inert(plain_line(each.repro)) + '\n';
  }
  if (listed > 0) text += markdown_text(table, CellText::kMarkdown);
  if (listed > kMostListed) {
    text += fmt::format("\nand {} more, which the JSON lists\n", listed - kMostListed);
  }
  if (!lines.empty()) {
    text += "\n<details><summary>Run these cells again</summary>\n\n<pre>" + lines +
            "</pre>\n\n</details>\n";
  }
  if (!report.remarks.empty()) text += '\n';
  for (const std::string& remark : report.remarks) {
    text += fmt::format("- {}\n", code(flat(remark)));
  }
  out << text;
}

}  // namespace attnbench
