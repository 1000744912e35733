// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "lib/scenario/problems.h"
#include "lib/scenario/yaml_tree.h"

namespace attnbench {

/// A tree like EAGLE-2's (Li et al., EMNLP 2024): topk children of the root, then topk new nodes a
/// level below nodes of the level before, `tokens` in all with the root.
struct GrownTree {
  std::int64_t topk, depth, tokens;
};

/// How the draft tokens of target_verify requests hang together.
struct TreeSpec {
  Place place;
  std::variant<GrownTree, std::vector<int>> form;  ///< the latter: parents, -1 for the root

  [[nodiscard]] std::int64_t tokens() const;
  /// Parent of each token, parents first; a grown tree varies with `seed`.
  [[nodiscard]] std::vector<int> parents(std::uint64_t seed) const;
};

[[nodiscard]] std::optional<TreeSpec> read_tree(const YamlNode& node, Problems& problems);

}  // namespace attnbench
