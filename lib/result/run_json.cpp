// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/run_json.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

#include "lib/base/error.h"
#include "lib/config/json_fields.h"
#include "lib/result/record_fields.h"

namespace attnbench {
namespace {

Json device_of(const DeviceInfo& d) {
  return {{"kind", d.kind == DeviceKind::kCpu ? "cpu" : "cuda"},
          {"name", d.name},
          {"arch", d.arch},
          {"units", d.units},
          {"last_level_cache_bytes", d.last_level_cache_bytes},
          {"memory_bytes", d.memory_bytes},
          {"driver", d.driver},
          {"cuda_version", d.cuda_version}};
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
    devices.back()["ceilings_utc"] = each.ceilings_utc;
  }
  return devices;
}

Json spent_of(const TimeAccount& account) {
  Json spent = Json::object();
  for (const TimePart& part : kTimeParts) spent[part.key] = account.*part.seconds;
  return spent;
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

Json files_of(const std::vector<InputFile>& files) {
  Json list = Json::array();
  for (const InputFile& file : files)
    list.push_back({{"path", file.path}, {"sha256", file.sha256}});
  return list;
}

/// Null where nobody knows.
Json others_of(const OtherPrograms& others) {
  if (!others.known()) return nullptr;
  return {{"busy_processors", others.busy_processors}, {"processors", others.processors}};
}

Json source_of(const ScenarioSource& s) {
  return {{"name", s.name}, {"path", s.path},       {"sha256", s.sha256},
          {"seed", s.seed}, {"options", s.options}, {"configs", files_of(s.configs)}};
}

constexpr std::int64_t kMostWhole = std::numeric_limits<std::int64_t>::max();

std::string word(const JsonFields& json, const char* key) {
  auto value = json.word(key);
  if (!value) throw ConfigError(fmt::format("{} is missing", json.path_of(key)));
  return *value;
}

/// A word that not every file has.
std::string optional_word(const JsonFields& json, const char* key) {
  return json.word(key).value_or("");
}

std::int64_t whole(const JsonFields& json, const char* key, std::int64_t most = kMostWhole) {
  const auto value = json.whole(key, 0, most);
  if (!value) throw ConfigError(fmt::format("{} is missing", json.path_of(key)));
  return *value;
}

/// A rate or a time; null stands for NaN and infinity.
double number(const JsonFields& json, const char* key) {
  if (json.is_null(key)) return std::numeric_limits<double>::quiet_NaN();
  const auto value = json.number(key, 0, std::numeric_limits<double>::max());
  if (!value) throw ConfigError(fmt::format("{} is missing", json.path_of(key)));
  return *value;
}

JsonFields object(const JsonFields& json, const char* key) {
  const auto value = json.object(key);
  if (!value) throw ConfigError(fmt::format("{} is missing", json.path_of(key)));
  return *value;
}

DeviceInfo read_device(const JsonFields& json) {
  DeviceInfo device;
  const std::string kind = word(json, "kind");
  if (kind != "cpu" && kind != "cuda") {
    throw ConfigError(
        fmt::format("{} is {}, neither cpu nor cuda", json.path_of("kind"), shown(kind)));
  }
  device.kind = kind == "cpu" ? DeviceKind::kCpu : DeviceKind::kCuda;
  device.name = word(json, "name");
  device.arch = word(json, "arch");
  device.units = static_cast<int>(whole(json, "units", std::numeric_limits<int>::max()));
  device.last_level_cache_bytes = whole(json, "last_level_cache_bytes");
  device.memory_bytes = whole(json, "memory_bytes");
  device.driver = optional_word(json, "driver");
  device.cuda_version = optional_word(json, "cuda_version");
  return device;
}

Ceilings read_ceilings(const JsonFields& json) {
  Ceilings ceilings;
  ceilings.read_bytes_per_s = number(json, "read_bytes_per_s");
  ceilings.copy_bytes_per_s = number(json, "copy_bytes_per_s");
  ceilings.flop_per_s = number(json, "flop_per_s");
  return ceilings;
}

/// A file without spent_s tells measuring from the rest, no more.
TimeAccount read_spent(const JsonFields& root, double wall_s) {
  TimeAccount account;
  if (!root.states("spent_s")) {
    account.around_samples = number(root, "measuring_s");
    account.other = wall_s - account.around_samples;
    return account;
  }
  const JsonFields spent = object(root, "spent_s");
  for (const TimePart& part : kTimeParts) account.*part.seconds = number(spent, part.key);
  return account;
}

Environment read_environment(const JsonFields& json) {
  Environment e;
  e.version = word(json, "version");
  e.git_sha = word(json, "git_sha");
  e.build_type = word(json, "build_type");
  e.compiler = word(json, "compiler");
  e.flags = word(json, "flags");
  e.os = word(json, "os");
  e.hostname_hash = word(json, "hostname_hash");
  e.threads = static_cast<int>(whole(json, "threads", std::numeric_limits<int>::max()));
  e.started_utc = word(json, "started_utc");
  e.device = read_device(object(json, "device"));
  return e;
}

/// A seed takes 64 bits, of which JsonFields::whole() knows 63.
std::uint64_t seed_of(const nlohmann::json& json, const std::string& path) {
  const auto found = json.find("seed");
  if (found == json.end() || !found->is_number_unsigned()) {
    throw ConfigError(fmt::format("{}.seed is no whole number of at least 0", path));
  }
  return found->get<std::uint64_t>();
}

/// The objects of a list, each with its path.
template <class Read>
void each_of(const nlohmann::json& root, const char* key, Read read) {
  const auto list = root.find(key);
  if (list == root.end()) return;
  if (!list->is_array()) throw ConfigError(fmt::format("{} is no list", key));
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string path = fmt::format("{}[{}]", key, i);
    if (!(*list)[i].is_object()) throw ConfigError(fmt::format("{} is no object", path));
    read((*list)[i], path);
  }
}

std::vector<InputFile> read_files(const nlohmann::json& root, const char* key) {
  std::vector<InputFile> files;
  each_of(root, key, [&](const nlohmann::json& each, const std::string& path) {
    const JsonFields fields(each, path);
    files.push_back({word(fields, "path"), word(fields, "sha256")});
  });
  return files;
}

ScenarioSource read_source(const nlohmann::json& json, const std::string& path) {
  const JsonFields fields(json, path);
  return {word(fields, "name"),
          word(fields, "path"),
          word(fields, "sha256"),
          seed_of(json, path),
          optional_word(fields, "options"),
          read_files(json, "configs")};
}

}  // namespace

Json run_json(const RunResult& run) {
  Json root = {{"schema_version", kSchemaVersion},
               {"environment", environment_of(run.environment)},
               {"ceilings", ceilings_of(run.ceilings)},
               {"devices", devices_of(run)},
               {"scenario", run.scenarios.empty() ? Json(nullptr) : source_of(run.scenarios[0])},
               {"scenarios", Json::array()},
               {"plugins", files_of(run.plugins)},
               {"others", others_of(run.others)},
               {"wall_s", run.wall_s},
               {"measuring_s", run.spent.measuring()},
               {"spent_s", spent_of(run.spent)},
               {"interrupted", run.interrupted}};
  for (const ScenarioSource& each : run.scenarios) root["scenarios"].push_back(source_of(each));
  return root;
}

void expect_readable(const Json& version) {
  const std::string found = version.is_string() ? version.get<std::string>() : version.dump();
  const std::string_view known = kSchemaVersion;
  const std::size_t first = known.find('.') + 1;
  if (found.starts_with(known.substr(0, first))) return;
  int part = 0;
  const auto end = std::from_chars(found.data(), found.data() + found.size(), part);
  if (end.ec == std::errc{} && std::string_view(end.ptr).starts_with('.') && part > 1) {
    throw EnvironmentError(
        fmt::format("written by a newer attnbench (schema {}); this one reads {}x", found,
                    known.substr(0, first)));
  }
  throw ConfigError(fmt::format("no results of attnbench: its schema_version is {}", found));
}

RunResult run_from_json(const Json& json) {
  const nlohmann::json plain = json;
  const JsonFields root(plain, "");
  RunResult run;
  run.environment = read_environment(object(root, "environment"));
  run.ceilings = read_ceilings(object(root, "ceilings"));
  each_of(plain, "devices", [&](const nlohmann::json& each, const std::string& path) {
    const JsonFields fields(each, path);
    run.devices.push_back({read_device(fields), read_ceilings(object(fields, "ceilings")),
                           optional_word(fields, "ceilings_utc")});
  });
  each_of(plain, "scenarios", [&](const nlohmann::json& each, const std::string& path) {
    run.scenarios.push_back(read_source(each, path));
  });
  run.plugins = read_files(plain, "plugins");
  if (root.states("others") && !root.is_null("others")) {
    const JsonFields others = object(root, "others");
    run.others = {number(others, "busy_processors"),
                  static_cast<int>(whole(others, "processors", std::numeric_limits<int>::max()))};
  }
  run.wall_s = number(root, "wall_s");
  run.spent = read_spent(root, run.wall_s);
  run.interrupted = root.flag("interrupted").value_or(false);
  return run;
}

}  // namespace attnbench
