// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "lib/backend/registry.h"
#include "lib/isolate/python_plugins.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// Environment variable of every command: what --plugin takes, separated by colons.
inline constexpr const char* kPluginsVariable = "ATTNBENCH_PLUGINS";

/// Environment variable of every command: the interpreter of Python plug-ins.
inline constexpr const char* kPythonVariable = "ATTNBENCH_PYTHON";

struct PluginOptions {
  std::vector<std::string> files;  ///< as plugin_files() takes them
  std::string python;              ///< empty: what the environment says, else python3
  bool in_process = false;         ///< .so files are loaded into this process
};

/// `--plugin FILE` and `--python PROGRAM` on every command that asks backends for something, and
/// `--in-process` on those that run them.
void add_plugin_options(CLI::App& program, PluginOptions& options);

/// The backends that a command can have.
class KnownBackends {
 public:
  /// Those of `registry`, of the files in `options` and of those that the environment names. It
  /// names none from then on: a child process is told which file it needs. No code of a file runs
  /// in this process unless the options say so. Throws ConfigError and EnvironmentError.
  KnownBackends(Registry registry, const PluginOptions& options);

  [[nodiscard]] const Registry& registry() const { return registry_; }
  /// What the variable said.
  [[nodiscard]] const std::string& plugins_of_environment() const { return of_environment_; }
  /// And those of the plug-in files in the scenario's list, and the pairs ("a+b") in that list and
  /// among `names`. Throws a ConfigError with the place of every file that is no plug-in and of
  /// every pair that cannot be, and EnvironmentError.
  [[nodiscard]] Registry with_those_of(const Scenario& scenario,
                                       const std::vector<std::string>& names = {}) const;

 private:
  Registry registry_;
  std::string of_environment_;
  PythonHost host_;
  bool in_process_;
};

/// The folder of the packs, Python plug-ins that call the kernels of installed packages: beside the
/// program's folder, where `cmake --install` puts it, or else in the source tree.
[[nodiscard]] std::string packs_folder();

/// The plug-in files, with their whole paths, that a word of --plugin means: the file of that name;
/// of a folder every pack, NAME_pack.py, in it; otherwise "packs" is the folder `packs` and
/// "packs/NAME" one pack of it. Any other word is a file that does not exist, and is given back.
/// Throws ConfigError for a folder without packs, and with the names there are for an unknown pack.
[[nodiscard]] std::vector<std::string> plugin_files(const std::string& word,
                                                    const std::string& packs = packs_folder());

}  // namespace attnbench
