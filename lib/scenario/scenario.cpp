// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "lib/base/regular_file.h"
#include "lib/base/sha256.h"
#include "lib/config/key_values.h"
#include "lib/scenario/batch_reader.h"
#include "lib/scenario/case_reader.h"
#include "lib/scenario/language.h"
#include "lib/scenario/layer_reader.h"
#include "lib/scenario/problem_of.h"
#include "lib/scenario/sweep.h"

namespace attnbench {
namespace {

/// Room for a hundred thousand batch entries; what is larger is no scenario.
constexpr std::size_t kMaxScenarioBytes = std::size_t{16} << 20;

/// Defaults are read with each mix; here only their keys, which no mix need share.
void check_defaults(const YamlNode& node, Problems& problems) {
  const ScenarioMap defaults(node, "defaults", "defaults", problems);
  for (const std::string_view section : {"kv_cache", "attention"}) {
    const YamlNode* map = defaults.find(section);
    if (map != nullptr) ScenarioMap(*map, section, section, problems);
  }
}

/// A mix over its defaults, and where its cases go.
struct MixReading {
  const YamlEntry& entry;
  YamlPtr mix;
  bool named;
  const ScenarioContext& context;
  std::vector<Case>& cases;
  Problems& problems;
};

/// Adds the case of a point, or one for each kind of layer that the mix runs there, of which
/// `only_kind` may want one; false after a mistake in the sweep's paths.
bool read_point(const MixReading& r, const Sweep& sweep, const SweepPoint& point,
                const std::optional<std::string>& only_kind) {
  const std::string& name = r.entry.key;
  const YamlPtr variant = apply_sweep(r.mix, name, sweep, point, r.problems);
  if (variant == nullptr) return false;
  for (const MixOfLayers& each : mixes_of_layers(drop_none_overrides(variant), r.problems)) {
    const std::string& kind = each.layers.kind;
    if (only_kind && kind != *only_kind) continue;
    const std::string id = case_id_of_layers(case_id(name, sweep, point), kind);
    auto result = read_case(*each.mix, name, r.entry.place, id, r.context, r.problems);
    if (!result || !r.named) continue;
    result->sweep = swept_values(sweep, point);
    if (!kind.empty()) {
      result->sweep.emplace_back("layer", kind);
      result->model_layers = each.layers;
      result->model_note = each.note;
      if (result->layer.is_cross_attention && !writes_encoders(*result)) {
        result->model_layers.kv_shared = each.layers.layers;
      }
    }
    r.cases.push_back(std::move(*result));
  }
  return true;
}

/// The point of the sweep whose case has this id, and the kind of layer of that case.
std::optional<std::pair<SweepPoint, std::string>> point_of(const std::string& id,
                                                           const std::string& mix_name,
                                                           const Sweep& sweep) {
  for (const SweepPoint& point : sweep.points) {
    const std::string name = case_id(mix_name, sweep, point);
    if (name == id) return std::pair(point, std::string());
    for (const std::string_view kind : kLayerKindWords) {
      if (case_id_of_layers(name, kind) == id) return std::pair(point, std::string(kind));
    }
  }
  return std::nullopt;
}

void read_mix(const YamlEntry& entry, const YamlNode* defaults, const YamlNode* common_sweep,
              const ScenarioContext& context, const std::optional<CaseAxis>& axis,
              std::vector<Case>& cases, Problems& problems) {
  const bool named = check_name(entry.key, entry.place, "mix", problems);
  const YamlEntry* own_sweep = entry.value->find("sweep");
  auto sweep = read_sweep(own_sweep != nullptr ? own_sweep->value.get() : common_sweep, problems);
  const MixReading reading{entry,   with_defaults(entry.value, defaults), named, context, cases,
                           problems};
  if (!sweep) {
    // The mix's other mistakes are reported along with the sweep's.
    Sweep none;
    none.points = {{}};
    std::vector<Case> unused;
    const MixReading once{entry, reading.mix, named, context, unused, problems};
    static_cast<void>(read_point(once, none, none.points[0], std::nullopt));
    return;
  }
  std::optional<std::string> only_kind;
  if (axis) {
    const auto found = point_of(axis->case_id, entry.key, *sweep);
    if (!found) return;
    only_kind = found->second;
    sweep = sweep_along(*sweep, found->first, axis->path, axis->values, entry.place, problems);
    if (!sweep) return;
  }
  for (const SweepPoint& point : sweep->points) {
    if (!read_point(reading, *sweep, point, only_kind)) return;
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

namespace {

/// Whether the value under these keys, joined by dots, names a file that results hang on: a
/// config.json, or captured lists of chosen keys. A sweep may name either.
bool names_a_file(std::string_view keys) {
  return keys.ends_with("hf_config") || keys.ends_with("pattern.file") ||
         keys.ends_with("pattern.lengths");
}

/// Every such file, each once. `keys`: that lead to the node. `seen`: an alias is the node of its
/// anchor.
void find_files(const YamlPtr& node, const std::string& keys, const std::filesystem::path& folder,
                std::set<const YamlNode*>& seen, std::vector<InputFile>& found) {
  if (node == nullptr) return;
  if (node->is_scalar() && names_a_file(keys)) {
    if (std::ranges::find(found, node->text, &InputFile::path) != found.end()) return;
    found.push_back({node->text, sha256_of_file((folder / node->text).string())});
    return;
  }
  if (!seen.insert(node.get()).second) return;
  for (const YamlPtr& item : node->items) find_files(item, keys, folder, seen, found);
  for (const YamlEntry& entry : node->entries) {
    find_files(entry.value, keys + '.' + entry.key, folder, seen, found);
  }
}

std::vector<InputFile> files_of(const YamlPtr& root, const std::string& scenario_path) {
  std::set<const YamlNode*> seen;
  std::vector<InputFile> found;
  find_files(root, "", std::filesystem::path(scenario_path).parent_path(), seen, found);
  return found;
}

/// Some case of each mix has to have what a part builds that is asked for, unless the part is left
/// out of the mix.
void check_built_parts(const Scenario& scenario, const YamlNode& measure, Problems& problems) {
  std::vector<const Case*> cases;
  for (const Case& c : scenario.cases) cases.push_back(&c);
  const std::set<std::string> dense = mixes_without_lists(cases);
  for (const StepPart part : scenario.measure.step) {
    if (!builds(part)) continue;
    std::map<std::string, std::string> refusals;  // by mix
    for (const Case& c : scenario.cases) {
      if (chooses_keys(part) && dense.contains(c.mix)) continue;
      const std::string why = why_not_built(c, part);
      std::string& refusal = refusals.try_emplace(c.mix, why).first->second;
      if (why.empty()) refusal.clear();
    }
    const YamlNode& word = *measure.find("step")->value;
    const auto item = std::ranges::find(word.items, to_string(part),
                                        [](const YamlPtr& each) { return each->text; });
    for (const auto& [mix, refusal] : refusals) {
      if (refusal.empty()) continue;
      problems.add(item == word.items.end() ? word.place : (*item)->place,
                   fmt::format("step {} of mix '{}': {}", to_string(part), mix, refusal),
                   "leave the mix out, or give it a scenario without this step");
    }
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
  const ScenarioMap file(*root, "scenario", "a scenario", problems);
  static_cast<void>(read_rows(file, scenario, problems));
  if (seed) scenario.seed = *seed;
  if (const YamlNode* defaults = file.find("defaults")) check_defaults(*defaults, problems);
  ScenarioContext context{scenario.name, scenario.seed, {}};
  if (const YamlNode* prefixes = file.find("prefixes")) {
    context.prefixes = read_prefixes(*prefixes, problems);
  }
  read_mixes(file, context, axis, scenario.cases, problems);
  if (const YamlNode* measure = file.find("measure")) {
    scenario.measure = read_measure(*measure, problems);
    check_built_parts(scenario, *measure, problems);
  }
  if (const YamlNode* verify = file.find("verify")) {
    scenario.verify = read_verify(*verify, problems);
  }
  if (const YamlNode* backends = file.find("backends")) {
    read_backends(*backends, scenario, problems);
  }
  if (const YamlNode* python = file.find("python")) read_python(*python, scenario, problems);
  if (const YamlNode* hybrid = file.find("hybrid")) read_hybrid(*hybrid, scenario, problems);
  problems.throw_if_any();
  scenario.configs = files_of(root, path);
  for (Case& c : scenario.cases) {
    c.graph_bucket = graph_bucket_of(c, scenario.measure);
    c.index_form = scenario.measure.index_form;
  }
  return scenario;
}

Scenario load_scenario(const std::string& path, std::optional<std::uint64_t> seed) {
  return parse_scenario(read_regular_file(path, kMaxScenarioBytes), path, seed);
}

std::set<std::string> mixes_without_lists(const std::vector<const Case*>& cases) {
  std::set<std::string> with, without;
  for (const Case* c : cases) {
    if (c->layer.selection.exists()) with.insert(c->mix);
  }
  for (const Case* c : cases) {
    if (!with.empty() && !with.contains(c->mix)) without.insert(c->mix);
  }
  return without;
}

void set_sample_nonce(Scenario& scenario, std::uint64_t nonce) {
  scenario.sample_nonce = nonce;
  for (Case& c : scenario.cases) set_sample_nonce(c, nonce);
}

}  // namespace attnbench
