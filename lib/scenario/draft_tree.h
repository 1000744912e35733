// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"

namespace attnbench {

/// A tree that EAGLE-2 draws: `tokens` in all with the root, the best of what `depth` steps propose
/// (lib/batch/draft_selection.h).
struct GrownTree {
  std::int64_t topk, depth, tokens;
};

/// What the draft model of a grown tree says of a candidate, given its parent: each child takes a
/// seeded share, a half or more, of what its better siblings leave.
[[nodiscard]] double draft_probability(std::uint64_t seed, std::int64_t topk,
                                       std::int64_t candidate);

/// How the draft tokens of target_verify requests hang together.
struct TreeSpec {
  Place place;
  std::variant<GrownTree, std::vector<int>> form;  ///< the latter: parents, -1 for the root

  [[nodiscard]] std::int64_t tokens() const;
  /// Children that a node of a grown tree may have; 0 where parents are listed.
  [[nodiscard]] int topk() const;
  /// Parent of each token, parents first; a grown tree varies with `seed`.
  [[nodiscard]] std::vector<int> parents(std::uint64_t seed) const;
};

[[nodiscard]] std::optional<TreeSpec> read_tree(const YamlNode& node, Problems& problems);

}  // namespace attnbench
