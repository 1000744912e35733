// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/strict_map.h"
#include "lib/config/yaml_tree.h"
#include "lib/scenario/batch_builder.h"
#include "lib/scenario/batch_reader.h"
#include "lib/scenario/case.h"
#include "lib/scenario/layer_reader.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// What all cases of a file have in common.
struct ScenarioContext {
  std::string name;
  std::uint64_t seed = 0;
  std::vector<PrefixSpec> prefixes;
};

/// A mix's keys over the file's defaults: kv_cache and attention key by key, the rest as a whole.
[[nodiscard]] YamlPtr with_defaults(const YamlPtr& mix, const YamlNode* defaults);

/// A mix without the keys whose value `none` takes back what defaults say: those of `kv_cache`, of
/// `attention` but for parts of the model that `none` switches off there, and both maps.
[[nodiscard]] YamlPtr drop_none_overrides(const YamlPtr& mix);

/// Seed of a mix: from its name, so that another mix in the file changes nothing.
[[nodiscard]] std::uint64_t mix_seed(std::uint64_t scenario_seed, const std::string& mix_name);

/// Reads a mix with every sweep value in its place. `mix_place` is where its name stands.
[[nodiscard]] std::optional<Case> read_case(const YamlNode& mix, const std::string& mix_name,
                                            const Place& mix_place, const std::string& id,
                                            const ScenarioContext& scenario, Problems& problems);

/// What a mix says of one step, read part by part.
struct StepParts {
  const StrictMap& mix;
  const Place& batch_place;
  const BatchEntries& entries;
  const BuiltBatch& batch;
  const LayerChoice& choice;
  const BatchPadding& padding;
  KvCacheConfig& cache;
};

/// Place of `key` in a map of the mix, or of the map, or of the mix.
[[nodiscard]] Place place_in(const StrictMap& mix, std::string_view map, std::string_view key);

/// Whether the parts go together; reports each pair that does not. Turns swa_pool off on layers
/// that keep all keys, where the mix is of several kinds of layers.
[[nodiscard]] bool check_step(const StepParts& step, Problems& problems);

// The sections of a file that hold for all of its cases.

[[nodiscard]] MeasureConfig read_measure(const YamlNode& node, Problems& problems);
[[nodiscard]] VerifyConfig read_verify(const YamlNode& node, Problems& problems);

/// One item or a list of them, with their places: distinct names, and plug-in files, whose paths
/// are relative to the scenario's folder. The driver checks whether such a backend or file exists.
void read_backends(const YamlNode& node, Scenario& scenario, Problems& problems);
/// Interpreters of plug-ins in Python, by the names of their environments.
void read_python(const YamlNode& node, Scenario& scenario, Problems& problems);
/// A backend for prompts and one for decodes: the pair, "a+b", joins the scenario's backends. Where
/// the scenario has none, both join it alone, too. To be called after read_backends().
void read_hybrid(const YamlNode& node, Scenario& scenario, Problems& problems);

}  // namespace attnbench
