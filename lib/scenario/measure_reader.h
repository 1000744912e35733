// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

[[nodiscard]] MeasureConfig read_measure(const YamlNode& node, Problems& problems);
[[nodiscard]] VerifyConfig read_verify(const YamlNode& node, Problems& problems);

/// One item or a list of them, with their places: distinct names, and plug-in files, whose paths
/// are relative to the scenario's folder. The driver checks whether such a backend or file exists.
void read_backends(const YamlNode& node, Scenario& scenario, Problems& problems);
/// A backend for prompts and one for decodes: the pair, "a+b", joins the scenario's backends. Where
/// the scenario has none, both join it alone, too. To be called after read_backends().
void read_hybrid(const YamlNode& node, Scenario& scenario, Problems& problems);

}  // namespace attnbench
