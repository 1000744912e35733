// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/gate_sinks.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>

#include "lib/base/printable.h"
#include "lib/gate/gate_text.h"
#include "lib/view/junit.h"

namespace attnbench {
namespace {

Json ratio_json(const RatioInterval& ratio) {
  return {{"median", ratio.median}, {"lo", ratio.lo}, {"hi", ratio.hi}};
}

Json judged_speed_json(const Comparison& each) {
  if (!each.speed) return nullptr;
  Json json = speed_json(*each.speed);
  json["allowed_change"] = each.edge;
  return json;
}

}  // namespace

Json speed_json(const SpeedEvidence& speed) {
  return {{"base_us", speed.base_us},
          {"new_us", speed.new_us},
          {"ratio", ratio_json(speed.time)},
          {"cycles_ratio", speed.cycles ? ratio_json(*speed.cycles) : Json(nullptr)},
          {"pairs", speed.paired ? Json(speed.pairs) : Json(nullptr)}};
}

Json comparison_json(const Comparison& each) {
  return {{"scenario", each.cell.scenario},
          {"case", each.cell.case_id},
          {"mix", each.mix},
          {"backend", each.cell.backend},
          {"step", to_string(each.cell.step)},
          {"cache", to_string(each.cell.cache)},
          {"launch", to_string(each.cell.launch)},
          {"verdict", to_string(each.judgement.verdict)},
          {"doubt", to_string(each.judgement.doubt)},
          {"reason", each.judgement.reason},
          {"allowed_because", each.allowed_because},
          {"speed", judged_speed_json(each)},
          {"base_kernel", each.base_kernel},
          {"new_kernel", each.new_kernel},
          {"repro", each.repro}};
}

void write_gate_json(const GateReport& report, int exit_code, std::ostream& out) {
  Json root = {{"schema", "attnbench.gate"},    {"schema_version", "1.1.0"},
               {"base", report.base},           {"new", report.now},
               {"confirmed", report.confirmed}, {"interrupted", report.interrupted},
               {"exit_code", exit_code},        {"remarks", report.remarks},
               {"cells", Json::array()}};
  for (const Comparison& each : report.cells) root["cells"].push_back(comparison_json(each));
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

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
