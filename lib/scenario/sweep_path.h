// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"

namespace attnbench {

/// Splits "batch[0].kv_len" into its steps and checks each against the keys of the language.
[[nodiscard]] std::optional<std::vector<std::string>> read_sweep_path(const std::string& path,
                                                                      const Place& place,
                                                                      Problems& problems);

/// Short form of a value in case ids: "ps16" for kv_cache.page_size 16.
[[nodiscard]] std::string sweep_label(const std::string& path, const YamlNode& value);

}  // namespace attnbench
