// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/field_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "lib/base/error.h"
#include "lib/result/csv_columns.h"
#include "lib/result/record_text.h"

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

constexpr std::array kVerdicts = {
    Verdict::kNotVerified, Verdict::kPassed,  Verdict::kMistrusted, Verdict::kIncorrect,
    Verdict::kUnsupported, Verdict::kSkipped, Verdict::kCrashed};

Outcome outcome_of(Verdict verdict, std::string reason) {
  switch (verdict) {
    case Verdict::kNotVerified:
      return Completed{Check::kNotVerified, Speed::kNone, std::move(reason)};
    case Verdict::kPassed:
      return Completed{Check::kPassed, Speed::kNone, std::move(reason)};
    case Verdict::kMistrusted:
      return Completed{Check::kMistrusted, Speed::kNone, std::move(reason)};
    case Verdict::kIncorrect:
      return Incorrect{std::move(reason)};
    case Verdict::kUnsupported:
      return Unsupported{std::move(reason)};
    case Verdict::kSkipped:
      return Skipped{std::move(reason)};
    case Verdict::kCrashed:
      return Crashed{std::move(reason)};
  }
  return {};
}

}  // namespace

FieldAccess of_dtypes(FieldAccess access) {
  return of_words(std::move(access), {"f32", "f16", "bf16", "e4m3", "e5m2"});
}

FieldAccess computed(Json (*value)(const Record&), Json type) {
  return {value, [](Record&, const std::string&) {}, std::move(type)};
}

FieldAccess attention_access() {
  static constexpr std::array kFamilies = {Family::kSoftmax,       Family::kLatent,
                                           Family::kGatedDeltaNet, Family::kKimiDelta,
                                           Family::kLightning,     Family::kMamba2};
  static constexpr std::string_view kComposed = "mla_composed";
  return {[](const Record& r) { return Json(r.is_composed ? kComposed : r.layer.attention()); },
          [](Record& r, const std::string& text) {
            r.is_composed = text == kComposed;
            const std::string_view word = r.is_composed ? "mla" : std::string_view(text);
            for (const Family family : kFamilies) {
              r.layer.family = family;
              if (r.layer.attention() == word) return;
            }
            throw ConfigError(fmt::format("unknown word '{}'", text));
          },
          {{"enum",
            {"mha", "mla", kComposed, "gated_delta_net", "kimi_delta", "lightning", "mamba2"}}}};
}

FieldAccess graph_n_status_access() {
  return {
      [](const Record& r) { return Json(graph_n_status(r)); },
      [](Record& r, const std::string& text) {
        const auto found = std::ranges::find_if(
            kMeasureStatuses, [&](MeasureStatus each) { return to_string(each) == text; });
        if (found != std::ranges::end(kMeasureStatuses)) r.graph_n.timing.status = *found;
      },
      {{"enum", {"converged", "noisy", "not converged", "throttled", "interrupted", "refused"}}}};
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

FieldAccess swept_numbers_access() {
  return computed(
      [](const Record& r) {
        Json values = Json::object();
        for (const auto& [path, value] : swept_numbers(r)) values[path] = value;
        return values;
      },
      {{"type", "object"}, {"additionalProperties", {{"type", "number"}}}});
}

FieldAccess groups_access() {
  const Json count = {{"type", "integer"}, {"minimum", 0}};
  const Json group = {{"type", "object"},
                      {"properties",
                       {{"name", {{"type", "string"}}},
                        {"requests", count},
                        {"q_tokens", count},
                        {"kv_tokens", count}}},
                      {"required", {"name", "requests", "q_tokens", "kv_tokens"}},
                      {"additionalProperties", false}};
  return {[](const Record& r) {
            Json groups = Json::array();
            for (const RequestGroup& each : r.groups) {
              groups.push_back({{"name", each.name},
                                {"requests", each.requests},
                                {"q_tokens", each.q_tokens},
                                {"kv_tokens", each.kv_tokens}});
            }
            return groups;
          },
          [](Record& r, const std::string& text) {
            const Json groups = Json::parse(text, nullptr, false);
            if (!groups.is_array()) throw ConfigError("not a list of request groups");
            for (const Json& each : groups) {
              const auto count_in = [&](const char* key) {
                const auto found = each.is_object() ? each.find(key) : each.end();
                if (found == each.end() || !found->is_number_integer()) {
                  throw ConfigError(fmt::format("{} has no {}", each.dump(), key));
                }
                return found->get<std::int64_t>();
              };
              const std::int64_t requests = count_in("requests");
              r.groups.push_back(
                  {each.value("name", ""), requests, count_in("q_tokens"), count_in("kv_tokens")});
            }
          },
          {{"type", "array"}, {"items", group}}};
}

FieldAccess reason_access() {
  return {[](const Record& r) { return Json(r.reason()); },
          [](Record& r, const std::string& text) { r.outcome = outcome_of(r.verdict(), text); },
          type_of<std::string>()};
}

FieldAccess verdict_access() {
  Json words = Json::array();
  for (const Verdict each : kVerdicts) words.push_back(to_string(each));
  return {[](const Record& r) { return Json(to_string(r.verdict())); },
          [](Record& r, const std::string& text) {
            const auto found = std::ranges::find_if(
                kVerdicts, [&](Verdict each) { return to_string(each) == text; });
            if (found == kVerdicts.end()) throw ConfigError(fmt::format("unknown word '{}'", text));
            r.outcome = outcome_of(*found, r.reason());
          },
          {{"enum", std::move(words)}}};
}

FieldAccess median_access() {
  FieldAccess access = member<&Record::timing, &CellTiming::median_us>();
  access.read = [](Record& r, const std::string& text) {
    from_text(text, r.timing.median_us);
    if (auto* const completed = std::get_if<Completed>(&r.outcome)) {
      completed->speed = Speed::kClaimed;
    } else if (auto* const incorrect = std::get_if<Incorrect>(&r.outcome)) {
      incorrect->timed = true;
    } else {
      throw ConfigError(fmt::format("a time of a cell that is {}", to_string(r.verdict())));
    }
  };
  return access;
}

FieldAccess impossible_access() {
  return {[](const Record& r) { return Json(r.is_impossible()); },
          [](Record& r, const std::string& text) {
            bool impossible = false;
            from_text(text, impossible);
            if (!impossible) return;
            auto* const completed = std::get_if<Completed>(&r.outcome);
            if (completed == nullptr || completed->speed == Speed::kNone) {
              throw ConfigError(fmt::format("an impossible speed of a cell that claims none ({})",
                                            to_string(r.verdict())));
            }
            completed->speed = Speed::kImpossible;
          },
          type_of<bool>()};
}

}  // namespace attnbench
