// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>

#include "lib/base/printable.h"
#include "lib/gate/gate_sinks.h"
#include "lib/gate/gate_text.h"

namespace attnbench {
namespace {

/// The data of a workflow command: a raw line break would end it, and the next line could be
/// another one.
std::string command_data(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '%':
        out += "%25";
        break;
      case '\n':
        out += "%0A";
        break;
      case '\r':
        out += "%0D";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// A property: ',' would end it, ':' the properties.
std::string command_property(std::string_view text) {
  std::string out;
  for (const char c : command_data(text)) {
    out += c == ':' ? "%3A" : c == ',' ? "%2C" : std::string(1, c);
  }
  return out;
}

std::string file_property(const GateReport& report, const Comparison& each) {
  const auto source =
      std::ranges::find(report.scenarios, each.cell.scenario, &ScenarioSource::name);
  if (source == report.scenarios.end()) return {};
  return fmt::format("file={},", command_property(source->path));
}

}  // namespace

void write_gate_github(const GateReport& report, std::ostream& out) {
  const bool with_scenario = has_several_scenarios(report);
  for (const Comparison& each : report.cells) {
    if (!is_harm(each)) continue;
    const bool fails = each.judgement.verdict <= GateVerdict::kNotComparable;
    std::string message = fmt::format("{} {} {}", each.cell.backend,
                                      case_text(each.cell, with_scenario), mode_text(each.cell));
    if (each.speed) {
      message += fmt::format(": {} {} {}", times_text(each), change_text(each.speed->time.median),
                             interval_text(each.speed->time));
    }
    const std::string why = why_text(each);
    if (!why.empty()) message += "; " + why;
    if (!each.repro.empty()) message += '\n' + each.repro;
    out << fmt::format("::{} {}title={}::{}\n", fails ? "error" : "warning",
                       file_property(report, each),
                       command_property("attnbench " + verdict_text(each)), command_data(message));
  }
}

}  // namespace attnbench
