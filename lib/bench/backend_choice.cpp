// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/backend_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/scenario/scenario_keys.h"

namespace attnbench {
namespace {

std::string message_for(const std::string& name) {
  return fmt::format("unknown backend '{}'", name);
}

std::string hint_for(const Registry& registry, const std::string& name) {
  return allowed_words_hint(registry.names(), name, "backends: ");
}

/// The file's own names, each with its place.
void check_names_of_file(const Scenario& scenario, const Registry& registry) {
  Problems problems(scenario.text, scenario.path);
  for (std::size_t i = 0; i < scenario.backends.size(); ++i) {
    const std::string& name = scenario.backends[i];
    if (is_plugin_file(name) || registry.find(name)) continue;
    const Place place = i < scenario.backend_places.size() ? scenario.backend_places[i] : Place{};
    problems.add(place, message_for(name), hint_for(registry, name));
  }
  problems.throw_if_any();
}

}  // namespace

std::vector<const Registry::Entry*> choose_backends(const Scenario& scenario,
                                                    const Registry& registry,
                                                    const RunFilter& filter) {
  // The scenario's own names are checked even when the filter overrides them: a mistake in the
  // file does not hide.
  check_names_of_file(scenario, registry);
  for (const std::string& name : filter.backends) {
    if (registry.find(name)) continue;
    throw ConfigError({Diagnostic{{}, 1, message_for(name), hint_for(registry, name), {}}});
  }
  const std::vector<std::string>& asked =
      filter.backends.empty() ? scenario.backends : filter.backends;
  std::vector<const Registry::Entry*> entries;
  for (const std::string& item : asked) {
    for (const Registry::Entry& entry : registry.entries()) {
      const bool meant = entry.info.name == item || entry.plugin == item;
      if (meant && std::ranges::find(entries, &entry) == entries.end()) entries.push_back(&entry);
    }
  }
  if (!asked.empty()) return entries;
  for (const Registry::Entry& entry : registry.entries()) {
    if (entry.make && entry.info.by_default) entries.push_back(&entry);
  }
  return entries;
}

}  // namespace attnbench
