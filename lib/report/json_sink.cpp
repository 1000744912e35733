// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "lib/report/record_fields.h"
#include "lib/report/record_json.h"
#include "lib/report/sinks.h"

namespace attnbench {
namespace {

Json device_of(const DeviceInfo& d) {
  return {{"kind", d.kind == DeviceKind::kCpu ? "cpu" : "cuda"},
          {"name", d.name},
          {"arch", d.arch},
          {"units", d.units},
          {"last_level_cache_bytes", d.last_level_cache_bytes},
          {"memory_bytes", d.memory_bytes}};
}

Json ceilings_of(const Ceilings& c) {
  return {{"read_bytes_per_s", c.read_bytes_per_s},
          {"copy_bytes_per_s", c.copy_bytes_per_s},
          {"flop_per_s", c.flop_per_s}};
}

Json devices_of(const RunResult& run) {
  Json devices = Json::array();
  for (const DeviceRates& each : run.devices) {
    devices.push_back(device_of(each.device));
    devices.back()["ceilings"] = ceilings_of(each.ceilings);
  }
  return devices;
}

Json environment_of(const Environment& e) {
  return {{"version", e.version},
          {"git_sha", e.git_sha},
          {"build_type", e.build_type},
          {"compiler", e.compiler},
          {"flags", e.flags},
          {"os", e.os},
          {"hostname_hash", e.hostname_hash},
          {"threads", e.threads},
          {"started_utc", e.started_utc},
          {"device", device_of(e.device)}};
}

Json source_of(const ScenarioSource& s) {
  return {{"name", s.name}, {"path", s.path}, {"sha256", s.sha256}, {"seed", s.seed}};
}

}  // namespace

void write_json(const RunResult& run, std::ostream& out) {
  Json root = {{"schema_version", kSchemaVersions.back().name},
               {"environment", environment_of(run.environment)},
               {"ceilings", ceilings_of(run.ceilings)},
               {"devices", devices_of(run)},
               {"scenario", run.scenarios.empty() ? Json(nullptr) : source_of(run.scenarios[0])},
               {"scenarios", Json::array()},
               {"wall_s", run.wall_s},
               {"measuring_s", run.measuring_s},
               {"interrupted", run.interrupted},
               {"records", Json::array()}};
  for (const ScenarioSource& each : run.scenarios) root["scenarios"].push_back(source_of(each));
  for (const Record& record : run.records) root["records"].push_back(record_json(record));
  // NaN and infinities, which JSON lacks, are written as null: the verdict says what happened. A
  // backend's message may hold anything: bytes that are no UTF-8 are replaced, not thrown at.
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
