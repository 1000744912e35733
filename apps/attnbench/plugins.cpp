// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/plugins.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "lib/backend/plugin.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench {

void add_plugin_options(CLI::App& program, std::vector<std::string>& plugins) {
  const auto add = [&](CLI::App* command) {
    command
        ->add_option("--plugin", plugins,
                     "a shared object with backends (attnbench/backend.h); repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false);
  };
  for (const char* name : {"run", "support", "dump", "profile"}) add(program.get_subcommand(name));
  add(program.get_subcommand("list")->get_subcommand("backends"));
}

Registry with_plugins(const Registry& registry, const std::vector<std::string>& plugins) {
  std::vector<std::string> paths;
  if (const char* const named = std::getenv(kPluginsVariable)) {
    std::istringstream list(named);
    for (std::string path; std::getline(list, path, ':');) {
      if (!path.empty()) paths.push_back(path);
    }
  }
  for (const std::string& plugin : plugins) {
    const std::string path = std::filesystem::absolute(plugin).lexically_normal().string();
    if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
  }
  Registry all = registry;
  std::string named;
  for (const std::string& path : paths) {
    load_plugin(path, cuda_absence(), all);
    named += (named.empty() ? "" : ":") + path;
  }
  if (!paths.empty()) setenv(kPluginsVariable, named.c_str(), 1);
  return all;
}

}  // namespace attnbench
