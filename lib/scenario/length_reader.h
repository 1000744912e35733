// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"
#include "lib/scenario/length_distribution.h"

namespace attnbench {

/// A length as it is written: one number for all requests, one per request, or drawn.
struct LengthSpec {
  Place place;
  std::variant<std::int64_t, std::vector<std::int64_t>, LengthDistribution> form;

  /// How many requests a list describes; nullopt for the other forms.
  [[nodiscard]] std::optional<std::int64_t> list_size() const;
  [[nodiscard]] bool is_drawn() const { return std::holds_alternative<LengthDistribution>(form); }
  /// The lengths of `count` requests; `seed` matters only if they are drawn.
  [[nodiscard]] std::vector<std::int64_t> values(std::int64_t count, std::uint64_t seed) const;
};

/// Reads a length that is `lo` at least; `what` is its key.
[[nodiscard]] std::optional<LengthSpec> read_length(const YamlNode& node, std::string_view what,
                                                    std::int64_t lo, Problems& problems);

}  // namespace attnbench
