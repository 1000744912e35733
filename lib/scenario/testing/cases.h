// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

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

/// The case of a scenario whose one mix has these keys; `top` are lines of the file's top level.
[[nodiscard]] inline Case only_case(const std::string& mix, const std::string& top = "") {
  const Scenario scenario = parse_scenario(
      "defaults: {model: llama-3.1-8b}\n" + top + "mixes:\n  m: {" + mix + "}\n", "s.yaml");
  EXPECT_EQ(scenario.cases.size(), 1u);
  return scenario.cases.at(0);
}

}  // namespace attnbench
