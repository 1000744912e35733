// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/registry.h"

#include <algorithm>

#include "lib/base/error.h"

namespace attnbench {

void Registry::add(Factory make, std::string plugin) {
  BackendInfo info = make()->info();
  expects(find(info.name) == nullptr, "backend '" + info.name + "' is registered twice");
  entries_.push_back({std::move(info), std::move(make), {}, std::move(plugin), {}});
}

void Registry::add_absent(BackendInfo info, std::string reason, std::string plugin) {
  expects(find(info.name) == nullptr, "backend '" + info.name + "' is registered twice");
  expects(!reason.empty(), "an absent backend needs a reason");
  entries_.push_back({std::move(info), {}, std::move(reason), std::move(plugin), {}});
}

void Registry::add_hosted(BackendInfo info, std::vector<std::string> host, std::string plugin) {
  expects(find(info.name) == nullptr, "backend '" + info.name + "' is registered twice");
  const auto make = [name = info.name]() -> std::unique_ptr<Backend> {
    throw EnvironmentError(name + " runs in a process of its own: 'attnbench run' starts it");
  };
  entries_.push_back({std::move(info), make, {}, std::move(plugin), std::move(host)});
}

const Registry::Entry* Registry::find(std::string_view name) const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& e) {
    const PythonEnvironment& of = e.info.environment;
    return e.info.name == name || (!of.name.empty() && name_in(of, e.info.name) == name);
  });
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.info.name);
  return names;
}

}  // namespace attnbench
