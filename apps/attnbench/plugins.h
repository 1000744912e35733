// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "lib/backend/python_environment.h"
#include "lib/backend/registry.h"
#include "lib/isolate/python_plugins.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// Environment variable of every command: what --plugin takes, separated by colons.
inline constexpr const char* kPluginsVariable = "ATTNBENCH_PLUGINS";

/// Environment variable of every command: the interpreter of Python plug-ins.
inline constexpr const char* kPythonVariable = "ATTNBENCH_PYTHON";
/// Where nothing names one.
inline constexpr const char* kUsualPython = "python3";

struct PluginOptions {
  std::vector<std::string> files;   ///< as plugin_files() takes them
  std::vector<std::string> python;  ///< as python_environment() takes them
  bool in_process = false;          ///< .so files are loaded into this process
  Describing describing{};
};

/// The environments that words of --python name. Of none: that of kPythonVariable, else python3.
/// Throws ConfigError where names cannot tell them apart.
[[nodiscard]] std::vector<PythonEnvironment> environments_of(const std::vector<std::string>& words);

/// `--plugin FILE`, `--python NAME=PROGRAM` and `--plugin-timeout TIME` on every command that asks
/// backends for something, and `--in-process` on those that run them.
void add_plugin_options(CLI::App& program, PluginOptions& options);

/// The backends that a command can have. Files are loaded when they are asked for, since a scenario
/// may name the interpreters of those in Python: --python first, then the scenario, then
/// kPythonVariable, else python3.
class KnownBackends {
 public:
  /// Those of `registry`, of the files in `options` and of those that the environment names. It
  /// names none from then on: a child process is told which file it needs. No code of a file runs
  /// in this process unless the options say so. Throws ConfigError.
  KnownBackends(Registry registry, const PluginOptions& options);

  /// Without those of any scenario. Throws ConfigError and EnvironmentError.
  [[nodiscard]] const Registry& registry() const { return registry_in(of_command_); }
  /// What the variable said.
  [[nodiscard]] const std::string& plugins_of_environment() const { return of_environment_; }
  /// And those of the plug-in files in the scenario's list, and the pairs ("a+b") in that list and
  /// among `names`. Throws a ConfigError with the place of every file that is no plug-in and of
  /// every pair that cannot be, and EnvironmentError.
  [[nodiscard]] Registry with_those_of(const Scenario& scenario,
                                       const std::vector<std::string>& names = {}) const;
  /// Those of the command and, behind them, those of one more file that they do not come from,
  /// whose processes are `confined_by` a program (Describing). No other file that the scenario
  /// names is loaded. Throws likewise.
  [[nodiscard]] Registry with_candidate(const std::string& file, const Scenario& scenario,
                                        std::vector<std::string> confined_by) const;
  /// What went wrong so far in environments of several, each in a sentence: the others run on.
  [[nodiscard]] const std::vector<std::string>& troubles() const { return troubles_; }

 private:
  /// The interpreters of plug-ins beside this scenario.
  [[nodiscard]] const std::vector<PythonEnvironment>& python_of(const Scenario& scenario) const;
  [[nodiscard]] const Registry& registry_in(const std::vector<PythonEnvironment>& python) const;
  void load_once(const std::string& path, PythonHost& host, Registry& registry) const;

  Registry builtin_;
  std::vector<std::string> files_;
  std::vector<PythonEnvironment> of_command_;
  bool asked_by_option_;
  std::string of_environment_;
  bool in_process_;
  Describing describing_;
  mutable PythonHost host_;                 ///< of loaded_
  mutable std::optional<Registry> loaded_;  ///< with the files, in...
  mutable std::vector<PythonEnvironment> loaded_in_;
  mutable std::vector<std::string> troubles_;
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
