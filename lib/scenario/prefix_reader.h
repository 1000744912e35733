// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"

namespace attnbench {

/// A run of tokens that the file lets several requests share.
struct PrefixSpec {
  std::string name;
  std::int64_t length = 0;            ///< tokens, those of its ancestors included
  std::vector<PrefixSpec> ancestors;  ///< that it extends, the first one first; without theirs
};

/// Reads the prefixes of a file, in any order. One with a mistake is still declared, so that its
/// uses are not reported as further mistakes.
[[nodiscard]] std::vector<PrefixSpec> read_prefixes(const YamlNode& node, Problems& problems);

}  // namespace attnbench
