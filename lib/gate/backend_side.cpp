// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/backend_side.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/word_hints.h"
#include "lib/session/aa_pairs.h"

namespace attnbench {
namespace {

/// What stands for the star, "" where there is none; nothing where `pattern` does not mean `name`.
std::optional<std::string_view> star_of(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) {
    return pattern == name ? std::optional(std::string_view()) : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, star), behind = pattern.substr(star + 1);
  const bool fits = name.size() >= before.size() + behind.size() && name.starts_with(before) &&
                    name.ends_with(behind);
  if (!fits) return std::nullopt;
  return name.substr(star, name.size() - before.size() - behind.size());
}

void expect_alike(const BackendSide& side) {
  const auto stars = std::ranges::count(side.backend, '*');
  if (stars <= 1 && stars == std::ranges::count(side.as, '*')) return;
  throw ConfigError(fmt::format(
      "--base and --new: '{}' and '{}' do not pair: both have a star, as v22/* and v33/*, or none",
      side.backend, side.as));
}

}  // namespace

RunResult records_of(const BackendSide& side, const RunResult& run) {
  expect_alike(side);
  RunResult found = run;
  found.records.clear();
  for (const Record& record : run.records) {
    // A twin that is named is itself, else that of its backend.
    const std::string_view registered = registered_name(record.backend);
    std::string_view name = record.backend;
    std::optional<std::string_view> star = star_of(side.backend, name);
    if (!star || (!star->empty() && registered != name)) {
      name = registered;
      star = star_of(side.backend, name);
    }
    if (!star) continue;
    const std::string twin = record.backend.substr(name.size());
    std::string as = side.as;
    if (const std::size_t at = as.find('*'); at != std::string::npos) as.replace(at, 1, *star);
    found.records.push_back(record);
    found.records.back().backend = as + twin;
  }
  if (!found.records.empty()) return found;
  std::set<std::string> distinct;
  for (const Record& record : run.records) distinct.insert(record.backend);
  const std::vector<std::string> names(distinct.begin(), distinct.end());
  throw ConfigError(
      {Diagnostic{{},
                  1,
                  fmt::format("the result has no backend '{}'", side.backend),
                  allowed_words_hint(std::span<const std::string>(names), side.backend, "it has: "),
                  {}}});
}

}  // namespace attnbench
