// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "lib/base/regular_file.h"
#include "lib/scenario/case_reader.h"
#include "lib/scenario/graph_bucket.h"
#include "lib/scenario/layer_reader.h"
#include "lib/scenario/measure_reader.h"
#include "lib/scenario/sha256.h"
#include "lib/scenario/strict_map.h"
#include "lib/scenario/sweep.h"
#include "lib/scenario/value_reader.h"

namespace attnbench {
namespace {

/// Room for a hundred thousand batch entries; what is larger is no scenario.
constexpr std::size_t kMaxScenarioBytes = std::size_t{16} << 20;

std::vector<PrefixSpec> read_prefixes(const YamlNode& node, Problems& problems) {
  std::vector<PrefixSpec> prefixes;
  if (!node.is_map()) {
    problems.add(node.place, fmt::format("prefixes takes a map, found {}", describe(node)),
                 "names with their lengths, for example prefixes: {system: 2k}");
    return prefixes;
  }
  for (const YamlEntry& entry : node.entries) {
    const bool named = check_name(entry.key, entry.place, "prefix", problems);
    const auto length = read_size(*entry.value, "prefix length", 1, kMaxSize, problems);
    // A prefix with a wrong length is still declared, so that its uses are not reported as further
    // mistakes.
    if (named) prefixes.push_back({entry.key, length.value_or(0)});
  }
  return prefixes;
}

/// Defaults are read with each mix; here only their keys, which no mix need share.
void check_defaults(const YamlNode& node, Problems& problems) {
  const StrictMap defaults(node, "defaults", "defaults", problems);
  for (const std::string_view section : {"kv_cache", "attention"}) {
    const YamlNode* map = defaults.find(section);
    if (map != nullptr) StrictMap(*map, section, section, problems);
  }
}

void read_mix(const YamlEntry& entry, const YamlNode* defaults, const YamlNode* common_sweep,
              const ScenarioContext& context, const std::optional<CaseAxis>& axis,
              std::vector<Case>& cases, Problems& problems) {
  const bool named = check_name(entry.key, entry.place, "mix", problems);
  const YamlEntry* own_sweep = entry.value->find("sweep");
  auto sweep = read_sweep(own_sweep != nullptr ? own_sweep->value.get() : common_sweep, problems);
  const YamlPtr mix = with_defaults(entry.value, defaults);
  if (!sweep) {
    // The mix's other mistakes are reported along with the sweep's.
    static_cast<void>(read_case(*mix, entry.key, entry.place, entry.key, context, problems));
    return;
  }
  if (axis) {
    const auto is_case = [&](const SweepPoint& point) {
      return case_id(entry.key, *sweep, point) == axis->case_id;
    };
    const auto point = std::ranges::find_if(sweep->points, is_case);
    if (point == sweep->points.end()) return;
    sweep = sweep_along(*sweep, *point, axis->path, axis->values, entry.place, problems);
    if (!sweep) return;
  }
  for (const SweepPoint& point : sweep->points) {
    const YamlPtr variant = apply_sweep(mix, entry.key, *sweep, point, problems);
    if (variant == nullptr) return;
    auto result = read_case(*variant, entry.key, entry.place, case_id(entry.key, *sweep, point),
                            context, problems);
    if (!result || !named) continue;
    result->sweep = swept_values(*sweep, point);
    cases.push_back(std::move(*result));
  }
}

void read_mixes(const StrictMap& file, const ScenarioContext& context,
                const std::optional<CaseAxis>& axis, std::vector<Case>& cases, Problems& problems) {
  const YamlNode* mixes = file.find("mixes");
  if (mixes == nullptr || !mixes->is_map() || mixes->entries.empty()) {
    if (!file.node().is_map() || (mixes == nullptr && !file.sound())) return;
    const bool absent = mixes == nullptr;
    problems.add(absent ? file.place_of("mixes") : mixes->place,
                 absent            ? "the scenario has no mixes"
                 : mixes->is_map() ? "mixes is empty"
                                   : fmt::format("mixes takes a map, found {}", describe(*mixes)),
                 "for example mixes: {chat: {batch: 8q1s4k}}");
    return;
  }
  for (const YamlEntry& entry : mixes->entries) {
    read_mix(entry, file.find("defaults"), file.find("sweep"), context, axis, cases, problems);
  }
}

}  // namespace

std::string_view to_string(CacheState cache) {
  switch (cache) {
    case CacheState::kCold:
      return "cold";
    case CacheState::kWarm:
      return "warm";
    case CacheState::kServing:
      return "serving";
  }
  return "?";
}

std::string_view to_string(LaunchMode launch) {
  return launch == LaunchMode::kEager ? "eager" : "graph";
}

Scenario parse_scenario(const std::string& text, const std::string& path,
                        std::optional<std::uint64_t> seed, const std::optional<CaseAxis>& axis) {
  Problems problems(text, path);
  Scenario scenario;
  scenario.axis = axis;
  scenario.path = path;
  scenario.text = text;
  scenario.sha256 = sha256_hex(text);
  scenario.name = std::filesystem::path(path).stem().string();

  const YamlPtr root = read_yaml(text, problems);
  if (root == nullptr || root->kind == YamlNode::Kind::kNull) {
    if (problems.empty())
      problems.add({}, "the file is empty", "scenarios/README.md shows a scenario");
    problems.throw_if_any();
  }
  const StrictMap file(*root, "scenario", "a scenario", problems);
  if (const YamlNode* name = file.find("scenario")) {
    scenario.name = read_name(*name, "scenario", problems).value_or("");
  }
  if (const YamlNode* description = file.find("description")) {
    scenario.description = read_text(*description, "description", problems).value_or("");
  }
  if (const YamlNode* own_seed = file.find("seed")) {
    const auto value =
        read_size(*own_seed, "seed", 0, std::numeric_limits<std::int64_t>::max(), problems);
    scenario.seed = static_cast<std::uint64_t>(value.value_or(0));
  }
  if (seed) scenario.seed = *seed;
  if (const YamlNode* defaults = file.find("defaults")) check_defaults(*defaults, problems);
  ScenarioContext context{scenario.name, scenario.seed, {}};
  if (const YamlNode* prefixes = file.find("prefixes")) {
    context.prefixes = read_prefixes(*prefixes, problems);
  }
  read_mixes(file, context, axis, scenario.cases, problems);
  if (const YamlNode* measure = file.find("measure")) {
    scenario.measure = read_measure(*measure, problems);
  }
  if (const YamlNode* verify = file.find("verify")) {
    scenario.verify = read_verify(*verify, problems);
  }
  if (const YamlNode* backends = file.find("backends")) {
    read_backends(*backends, scenario, problems);
  }
  if (const YamlNode* hybrid = file.find("hybrid")) read_hybrid(*hybrid, scenario, problems);
  problems.throw_if_any();
  for (Case& c : scenario.cases) c.graph_bucket = graph_bucket_of(c, scenario.measure);
  return scenario;
}

Scenario load_scenario(const std::string& path, std::optional<std::uint64_t> seed) {
  return parse_scenario(read_regular_file(path, kMaxScenarioBytes), path, seed);
}

}  // namespace attnbench
