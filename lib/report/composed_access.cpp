// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/composed_access.h"

#include <algorithm>
#include <iterator>

#include "lib/report/record_text.h"

namespace attnbench {
namespace {

Json blocks_json(const CellTiming& timing) {
  Json blocks = Json::array();
  for (const BlockMedian& block : timing.blocks) blocks.push_back({block.round, block.us});
  return blocks;
}

void read_blocks(const std::string& text, CellTiming& timing) {
  const Json blocks = Json::parse(text, nullptr, false);
  if (!blocks.is_array()) throw ConfigError("not a list of blocks");
  timing.blocks.clear();
  for (const Json& block : blocks) {
    if (!block.is_array() || block.size() != 2 || !block[0].is_number_integer() ||
        !block[1].is_number()) {
      throw ConfigError(fmt::format("{} is not [round, microseconds]", block.dump()));
    }
    timing.blocks.push_back({block[0].get<int>(), block[1].get<double>()});
  }
}

Json blocks_type() {
  const Json block = {
      {"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", 2}, {"maxItems", 2}};
  return {{"type", "array"}, {"items", block}};
}

}  // namespace

FieldAccess graph_n_status_access() {
  return {[](const Record& r) { return Json(graph_n_status(r)); },
          [](Record& r, const std::string& text) {
            const auto found = std::ranges::find_if(
                kMeasureStatuses, [&](MeasureStatus each) { return to_string(each) == text; });
            if (found != std::ranges::end(kMeasureStatuses)) r.graph_n.timing.status = *found;
          },
          {{"enum", {"converged", "noisy", "timeout", "throttled", "interrupted", "refused"}}}};
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

FieldAccess blocks_access() {
  return {[](const Record& r) { return blocks_json(r.timing); },
          [](Record& r, const std::string& text) { read_blocks(text, r.timing); }, blocks_type()};
}

FieldAccess graph_n_blocks_access() {
  return {[](const Record& r) { return blocks_json(r.graph_n.timing); },
          [](Record& r, const std::string& text) { read_blocks(text, r.graph_n.timing); },
          blocks_type()};
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
