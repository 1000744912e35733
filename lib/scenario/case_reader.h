// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"
#include "lib/scenario/batch_reader.h"
#include "lib/scenario/case.h"

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

}  // namespace attnbench
