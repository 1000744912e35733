// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/scenario/scenario.h"

namespace attnbench {

/// The ids of all cases of `scenario`, in their order.
[[nodiscard]] inline std::vector<std::string> case_ids(const Scenario& scenario) {
  std::vector<std::string> ids;
  for (const Case& c : scenario.cases) ids.push_back(c.id);
  return ids;
}

}  // namespace attnbench
