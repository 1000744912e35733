// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/bench/record.h"
#include "lib/report/json.h"

namespace attnbench {

/// Swept keys of a case with their values as text, in the sweep's order.
[[nodiscard]] inline Json sweep_json(const Record& record) {
  Json values = Json::object();
  for (const auto& [path, value] : record.sweep) values[path] = value;
  return values;
}

}  // namespace attnbench
