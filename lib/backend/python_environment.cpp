// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/python_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lib/base/error.h"
#include "lib/base/system.h"

namespace attnbench {
namespace {

/// As names in scenarios are made: none of what names of backends, pairs and globs consist of.
bool is_letter_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

PythonEnvironment python_environment(const std::string& word) {
  const std::size_t equals = word.find('=');
  const bool named = equals != std::string::npos && equals < word.find('/');
  PythonEnvironment environment;
  if (named) environment.name = word.substr(0, equals);
  environment.python = named ? word.substr(equals + 1) : word;
  const bool has_name =
      !environment.name.empty() && std::ranges::all_of(environment.name, is_letter_of_name);
  if ((named && !has_name) || environment.python.empty()) {
    throw ConfigError(fmt::format(
        "--python {}: takes an interpreter, or NAME=INTERPRETER with a name of letters, digits, "
        "'_', '-' and '.'",
        word));
  }
  if (environment.python.find('/') != std::string::npos) {
    environment.python = lasting_path(environment.python);
  }
  return environment;
}

std::string to_string(const PythonEnvironment& environment) {
  return environment.name.empty() ? environment.python
                                  : environment.name + '=' + environment.python;
}

void expect_distinct(std::span<const PythonEnvironment> environments) {
  std::set<std::string> names;
  for (const PythonEnvironment& each : environments) {
    if (each.name.empty() && environments.size() > 1) {
      throw ConfigError(fmt::format(
          "--python {0}: several interpreters need names: --python NAME={0}", each.python));
    }
    if (names.insert(each.name).second) continue;
    throw ConfigError(fmt::format("--python: two environments are called '{}'", each.name));
  }
}

std::string name_in(const PythonEnvironment& environment, std::string_view backend) {
  return fmt::format("{}/{}", environment.name, backend);
}

std::string without_environment(std::string_view backend) {
  std::string name;
  while (true) {
    const std::size_t plus = backend.find('+');
    const std::string_view part = backend.substr(0, plus);
    name += part.substr(part.find('/') + 1);  // npos + 1 is 0: all of it
    if (plus == std::string_view::npos) return name;
    name += '+';
    backend.remove_prefix(plus + 1);
  }
}

}  // namespace attnbench
