// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/plugins.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "apps/attnbench/own_program.h"
#include "lib/backend/plugin.h"
#include "lib/bench/isolate/python_plugin.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench {
namespace {

/// The library lies beside the program: in the build and where it is installed.
PythonHost python_host(const PluginOptions& options) {
  PythonHost host;
  if (const char* const named = std::getenv(kPythonVariable)) host.python = named;
  if (!options.python.empty()) host.python = options.python;
  host.worker_library =
      (std::filesystem::path(own_program()).parent_path() / "../lib/libattnbench_worker.so")
          .lexically_normal()
          .string();
  return host;
}

}  // namespace

void add_plugin_options(CLI::App& program, PluginOptions& options) {
  const auto add = [&](CLI::App* command) {
    command
        ->add_option("--plugin", options.files,
                     "a .so (attnbench/backend.h) or .py file with backends; repeatable")
        ->type_name("FILE")
        ->allow_extra_args(false);
    command
        ->add_option("--python", options.python,
                     "interpreter of .py plug-ins; python3 if not given")
        ->type_name("PROGRAM");
  };
  for (const char* name : {"run", "support", "dump", "profile"}) add(program.get_subcommand(name));
  add(program.get_subcommand("list")->get_subcommand("backends"));
}

Registry with_plugins(const Registry& registry, const PluginOptions& options) {
  std::vector<std::string> paths;
  if (const char* const named = std::getenv(kPluginsVariable)) {
    std::istringstream list(named);
    for (std::string path; std::getline(list, path, ':');) {
      if (!path.empty()) paths.push_back(path);
    }
  }
  for (const std::string& plugin : options.files) {
    const std::string path = std::filesystem::absolute(plugin).lexically_normal().string();
    if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
  }
  Registry all = registry;
  std::string named;
  for (const std::string& path : paths) {
    if (path.ends_with(".py")) {
      load_python_plugin(path, python_host(options), cuda_absence(), all);
    } else {
      load_plugin(path, cuda_absence(), all);
      named += (named.empty() ? "" : ":") + path;
    }
  }
  if (!paths.empty()) setenv(kPluginsVariable, named.c_str(), 1);
  return all;
}

}  // namespace attnbench
