// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "lib/config/key_table.h"
#include "lib/config/problems.h"
#include "lib/config/strict_map.h"
#include "lib/config/yaml_tree.h"

namespace attnbench {

/// The keys of scenario files. The parser reads no other key; scenarios/keys.md is their reference.
[[nodiscard]] const KeyLanguage& scenario_language();

/// A map of a scenario file.
class ScenarioMap : public StrictMap {
 public:
  ScenarioMap(const YamlNode& node, std::string_view section, std::string_view what,
              Problems& problems)
      : StrictMap(node, scenario_language(), section, what, problems) {}
};

// Each section stands beside the function that reads it.
[[nodiscard]] KeySection padding_section();
[[nodiscard]] KeySection model_section();
[[nodiscard]] KeySection rope_scaling_section();
[[nodiscard]] KeySection kv_cache_section();
[[nodiscard]] KeySection page_stride_section();
[[nodiscard]] KeySection attention_section();
[[nodiscard]] KeySection window_section();
[[nodiscard]] KeySection dual_chunk_section();
[[nodiscard]] KeySection selection_section();
[[nodiscard]] KeySection captured_section();
[[nodiscard]] KeySection entry_section();
[[nodiscard]] KeySection chunk_section();
[[nodiscard]] KeySection tree_section();
[[nodiscard]] KeySection draft_section();
[[nodiscard]] KeySection length_section();
[[nodiscard]] KeySection lognormal_section();
[[nodiscard]] KeySection zipf_section();
[[nodiscard]] KeySection bimodal_section();
[[nodiscard]] KeySection quantiles_section();
[[nodiscard]] KeySection sweep_section();
[[nodiscard]] KeySection axis_section();
[[nodiscard]] KeySection range_section();
[[nodiscard]] KeySection log2_section();
[[nodiscard]] KeySection measure_section();
[[nodiscard]] KeySection verify_section();
[[nodiscard]] KeySection hybrid_section();
[[nodiscard]] KeySection prefix_section();

}  // namespace attnbench
