// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "lib/gate/crossover.h"
#include "lib/gate/gate_sinks.h"
#include "lib/result/record.h"
#include "lib/result/run_json.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

/// The backend that is faster, or where there are two, the case; null: neither is.
Json leader_json(const CrossoverReport& report, Lead lead) {
  if (lead == Lead::kTie) return nullptr;
  return side_of(report, lead);
}

Json probed_json(const CrossoverReport& report, const CrossoverPoint& point) {
  const bool timed = point.problem.empty();
  return {{"value", point.value},
          {"faster", timed ? leader_json(report, lead_of(point.speed)) : Json(nullptr)},
          {"speed", timed ? speed_json(point.speed) : Json(nullptr)},
          {"problem", point.problem}};
}

Json stretch_json(const CrossoverReport& report, const CrossoverStretch& stretch) {
  return {{"faster", leader_json(report, stretch.lead)},
          {"first", stretch.first},
          {"last", stretch.last}};
}

Json bracket_json(const CrossoverReport& report, const CrossoverBracket& bracket) {
  return {{"low", bracket.low},
          {"high", bracket.high},
          {"faster_before", leader_json(report, bracket.before)},
          {"faster_after", leader_json(report, bracket.after)}};
}

}  // namespace

void write_crossover_json(const CrossoverReport& report, const RunResult& run, int exit_code,
                          std::ostream& out) {
  const Json circumstances = run_json(run);
  Json root = {{"schema", "attnbench.crossover"},
               {"schema_version", "1.1.0"},
               {"case", report.case_id},
               {"new_case", report.new_case.empty() ? Json(nullptr) : Json(report.new_case)},
               {"axis", report.axis},
               {"base", report.base},
               {"new", report.now},
               {"environment", circumstances.at("environment")},
               {"scenario", circumstances.at("scenario")},
               {"interrupted", report.interrupted},
               {"exit_code", exit_code},
               {"ended", report.ended},
               {"verdict", crossover_text(report)},
               {"crossovers", Json::array()},
               {"stretches", Json::array()},
               {"points", Json::array()}};
  const auto stretches = stretches_of(report.points);
  for (const CrossoverBracket& each : brackets_of(stretches)) {
    root["crossovers"].push_back(bracket_json(report, each));
  }
  for (const CrossoverStretch& each : stretches) {
    root["stretches"].push_back(stretch_json(report, each));
  }
  for (const CrossoverPoint& each : report.points) {
    root["points"].push_back(probed_json(report, each));
  }
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
