// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "lib/bench/record.h"

namespace attnbench {

using Json = nlohmann::ordered_json;

/// Swept keys of a case with their values as text, in the sweep's order.
[[nodiscard]] inline Json sweep_json(const Record& record) {
  Json values = Json::object();
  for (const auto& [path, value] : record.sweep) values[path] = value;
  return values;
}

}  // namespace attnbench
