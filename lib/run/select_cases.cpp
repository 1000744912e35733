// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/glob.h"
#include "lib/run/driver.h"

namespace attnbench {
namespace {

/// An id is taken literally first: it may itself contain a star.
bool chooses(const std::string& pattern, const Case& c) {
  return c.id == pattern || glob_matches(pattern, c.id);
}

[[noreturn]] void nothing_matched(const Scenario& scenario, const std::string& pattern) {
  std::vector<std::string> ids;
  std::string list;
  for (const Case& c : scenario.cases) {
    ids.push_back(c.id);
    list += (list.empty() ? "" : " ") + c.id;
  }
  const std::string likely = likely_names(pattern, ids);
  throw ConfigError({Diagnostic{
      {},
      1,
      fmt::format("no case of {} matches '{}'", scenario.path, pattern),
      fmt::format("{}cases: {}", likely.empty() ? "" : fmt::format("did you mean {}?   ", likely),
                  list),
      {}}});
}

}  // namespace

bool any_case_matches(const Scenario& scenario, const std::string& pattern) {
  return std::ranges::any_of(scenario.cases, [&](const Case& c) { return chooses(pattern, c); });
}

std::vector<const Case*> select_cases(const Scenario& scenario, const RunFilter& filter) {
  std::vector<bool> chosen(scenario.cases.size(), filter.cases.empty());
  for (const std::string& pattern : filter.cases) {
    bool any = false;
    for (std::size_t i = 0; i < scenario.cases.size(); ++i) {
      if (chooses(pattern, scenario.cases[i])) chosen[i] = any = true;
    }
    if (!any) nothing_matched(scenario, pattern);
  }
  std::vector<const Case*> cases;
  for (std::size_t i = 0; i < scenario.cases.size(); ++i) {
    if (chosen[i]) cases.push_back(&scenario.cases[i]);
  }
  return cases;
}

}  // namespace attnbench
