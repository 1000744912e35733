// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/composed_access.h"

#include <algorithm>
#include <array>

#include "lib/report/record_text.h"

namespace attnbench {
namespace {

constexpr std::array kStatuses = {MeasureStatus::kConverged, MeasureStatus::kNoisy,
                                  MeasureStatus::kTimeout,   MeasureStatus::kThrottled,
                                  MeasureStatus::kHostSync,  MeasureStatus::kFailed};

/// The status of a timing by its word; kConverged for words that are none.
MeasureStatus measure_status(const std::string& text) {
  const auto found = std::ranges::find(
      kStatuses, text, [](MeasureStatus status) { return std::string(to_string(status)); });
  return found == kStatuses.end() ? MeasureStatus::kConverged : *found;
}

}  // namespace

FieldAccess status_access() {
  Json words = Json::array();
  for (const MeasureStatus each : kStatuses) words.push_back(to_string(each));
  words.push_back("interrupted");
  words.push_back("not measured");
  return {[](const Record& r) { return Json(r.status); },
          [](Record& r, const std::string& text) {
            r.status = text;
            r.timing.interrupted = text == "interrupted";
            r.timing.status = measure_status(text);
          },
          {{"enum", std::move(words)}}};
}

FieldAccess graph_n_status_access() {
  return {[](const Record& r) { return Json(graph_n_status(r)); },
          [](Record& r, const std::string& text) {
            r.graph_n.timing.interrupted = text == "interrupted";
            r.graph_n.timing.status = measure_status(text);
          },
          {{"enum", {"converged", "noisy", "timeout", "throttled", "interrupted", "refused"}}}};
}

FieldAccess median_access() {
  FieldAccess access = member<&Record::timing, &CellTiming::median_us>();
  access.read = [](Record& r, const std::string& text) {
    from_text(text, r.timing.median_us);
    r.timed = true;
  };
  return access;
}

FieldAccess clock_events_access() {
  return {[](const Record& r) { return Json(to_string(r.timing.clock_events)); },
          [](Record& r, const std::string& text) {
            ClockEvents& events = r.timing.clock_events;
            events.power_cap = text.find("power_cap") != std::string::npos;
            events.thermal = text.find("thermal") != std::string::npos;
            events.hw_slowdown = text.find("hw_slowdown") != std::string::npos;
          },
          {{"type", "string"}, {"pattern", "^((power_cap|thermal|hw_slowdown)( |$))*$"}}};
}

FieldAccess sweep_access() {
  return {[](const Record& r) {
            Json values = Json::object();
            for (const auto& [path, value] : r.sweep) values[path] = value;
            return values;
          },
          [](Record& r, const std::string& text) {
            if (text.empty()) return;
            const Json values = Json::parse(text, nullptr, false);
            if (!values.is_object()) {
              throw ConfigError(fmt::format("'{}' is no JSON object", text));
            }
            for (const auto& [path, value] : values.items()) {
              if (!value.is_string()) throw ConfigError(fmt::format("{} is no text", path));
              r.sweep.emplace_back(path, value.get<std::string>());
            }
          },
          {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}};
}

}  // namespace attnbench
