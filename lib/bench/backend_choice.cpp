// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/backend_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"

namespace attnbench {
namespace {

[[noreturn]] void unknown_backend(const Registry& registry, const std::string& name) {
  const std::vector<std::string> names = registry.names();
  const std::string near = nearest_name(name, names);
  throw ConfigError({Diagnostic{
      {},
      1,
      fmt::format("unknown backend '{}'", name),
      fmt::format("{}backends: {}", near.empty() ? "" : fmt::format("did you mean '{}'?   ", near),
                  fmt::join(names, " ")),
      {}}});
}

}  // namespace

std::vector<const Registry::Entry*> choose_backends(const Scenario& scenario,
                                                    const Registry& registry,
                                                    const RunFilter& filter) {
  // The scenario's own names are checked even when the filter overrides them: a mistake in the
  // file does not hide.
  for (const auto* names : {&scenario.backends, &filter.backends}) {
    for (const std::string& name : *names) {
      if (!registry.find(name)) unknown_backend(registry, name);
    }
  }
  const std::vector<std::string>& asked =
      filter.backends.empty() ? scenario.backends : filter.backends;
  std::vector<const Registry::Entry*> entries;
  for (const std::string& name : asked) {
    const Registry::Entry* entry = registry.find(name);
    if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(entry);
  }
  if (!asked.empty()) return entries;
  for (const Registry::Entry& entry : registry.entries()) {
    if (entry.make && entry.info.by_default) entries.push_back(&entry);
  }
  return entries;
}

}  // namespace attnbench
