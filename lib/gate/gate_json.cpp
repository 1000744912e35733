// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <ostream>
#include <string>

#include "lib/gate/gate_sinks.h"

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
          {"repro", each.repro}};
}

void write_gate_json(const GateReport& report, int exit_code, std::ostream& out) {
  Json root = {{"schema", "attnbench.gate"},    {"schema_version", "1.0.0"},
               {"base", report.base},           {"new", report.now},
               {"confirmed", report.confirmed}, {"interrupted", report.interrupted},
               {"exit_code", exit_code},        {"remarks", report.remarks},
               {"cells", Json::array()}};
  for (const Comparison& each : report.cells) root["cells"].push_back(comparison_json(each));
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
