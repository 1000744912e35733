// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "lib/base/error.h"
#include "lib/base/regular_file.h"
#include "lib/gate/gate_verdict.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

constexpr std::size_t kMaxReportBytes = std::size_t{64} << 20;
constexpr std::array kLaunches = {LaunchMode::kEager, LaunchMode::kGraph};

/// The value whose word the member is.
template <class Values>
auto value_of_word(const Json& cell, const char* member, const Values& values) {
  const auto word = cell.at(member).get<std::string>();
  const auto found =
      std::ranges::find_if(values, [&](const auto& value) { return to_string(value) == word; });
  if (found == std::end(values)) {
    throw ConfigError(fmt::format("no {} is called '{}'", member, word));
  }
  return *found;
}

CellKey key_of(const Json& cell) {
  Record record;
  record.scenario = cell.at("scenario").get<std::string>();
  record.case_id = cell.at("case").get<std::string>();
  record.backend = cell.at("backend").get<std::string>();
  record.step = value_of_word(cell, "step", kStepParts);
  record.cache = value_of_word(cell, "cache", kCacheStates);
  record.launch = value_of_word(cell, "launch", kLaunches);
  return CellKey(record);
}

bool is_open(const Json& cell, GateVerdict verdict) {
  return verdict == GateVerdict::kSuspect || verdict == GateVerdict::kInconclusive ||
         verdict == GateVerdict::kNoVerdict ||
         (verdict == GateVerdict::kRegressed && !cell.at("speed").is_null());
}

}  // namespace

Screen read_screen(const std::string& path) {
  const std::string text = read_regular_file(path, kMaxReportBytes);
  Screen screen;
  try {
    const Json report = Json::parse(text);
    if (report.at("schema") != "attnbench.gate") throw ConfigError("another schema");
    for (const Json& cell : report.at("cells")) {
      const GateVerdict verdict = value_of_word(cell, "verdict", kGateVerdicts);
      if (is_open(cell, verdict)) screen.open.push_back(key_of(cell));
      const bool is_gone = verdict == GateVerdict::kMissing || verdict == GateVerdict::kSkippedNow;
      if (is_gone && cell.at("allowed_because") == "") {
        screen.gone.push_back({.cell = key_of(cell),
                               .mix = cell.at("mix"),
                               .judgement = {verdict, cell.at("reason"), Doubt::kNone},
                               .repro = cell.at("repro")});
      }
    }
  } catch (const Json::exception& error) {
    throw ConfigError(fmt::format("{}: no report of attnbench compare: {}", path, error.what()));
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: no report of attnbench compare: {}", path,
                                  error.diagnostics().front().message));
  }
  return screen;
}

}  // namespace attnbench
