// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// Splits "batch[0].kv_len" into its steps and checks each against the keys of the language.
[[nodiscard]] std::optional<std::vector<std::string>> read_sweep_path(const std::string& path,
                                                                      const Place& place,
                                                                      Problems& problems);

/// Short form of a value in case ids: "ps16" for kv_cache.page_size 16.
[[nodiscard]] std::string sweep_label(const std::string& path, const YamlNode& value);

/// One swept key of a mix and the values it takes.
struct SweepAxis {
  std::string path;                ///< as written: "kv_cache.page_size", "batch[0].kv_len"
  std::vector<std::string> steps;  ///< {"batch", "[0]", "kv_len"}
  Place place;
  std::vector<YamlPtr> values;
  std::vector<std::string> labels;  ///< of the values, for case ids: "ps16"
};

/// One combination of values: an index into each axis.
using SweepPoint = std::vector<std::size_t>;

struct Sweep {
  std::vector<SweepAxis> axes;
  std::vector<SweepPoint> points;  ///< the last axis of a grid varies fastest
};

/// Reads and expands a sweep; without a node, or for `none`, one point and no axes.
[[nodiscard]] std::optional<Sweep> read_sweep(const YamlNode* node, Problems& problems);

/// The values of `point`, and in each of the points of the result one of `values` at `path`, which
/// the sweep may have, too. none after a mistake in the path, reported at `place`.
[[nodiscard]] std::optional<Sweep> sweep_along(const Sweep& sweep, const SweepPoint& point,
                                               const std::string& path,
                                               const std::vector<std::int64_t>& values,
                                               const Place& place, Problems& problems);

/// The mix with the values of `point`; null after a mistake (a path that this mix does not have).
[[nodiscard]] YamlPtr apply_sweep(const YamlPtr& mix, const std::string& mix_name,
                                  const Sweep& sweep, const SweepPoint& point, Problems& problems);

/// "chat" without a sweep, else "chat/ps16,tp8".
[[nodiscard]] std::string case_id(const std::string& mix_name, const Sweep& sweep,
                                  const SweepPoint& point);

/// What `point` puts into a mix: each path with its value, maps and lists in YAML's flow style.
[[nodiscard]] SweptValues swept_values(const Sweep& sweep, const SweepPoint& point);

}  // namespace attnbench
