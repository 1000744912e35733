// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/plugins.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "apps/attnbench/option_values.h"
#include "lib/backend/plugin.h"
#include "lib/base/error.h"
#include "lib/base/system.h"
#include "lib/config/problems.h"
#include "lib/config/word_hints.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/isolate/file_plugins.h"
#include "lib/session/joined_entry.h"

namespace attnbench {
namespace {

/// The library lies beside the program: in the build and where it is installed.
std::string worker_library() {
  return (std::filesystem::path(self_path()).parent_path() / "../lib/libattnbench_worker.so")
      .lexically_normal()
      .string();
}

/// Files that the environment and the options name.
std::vector<std::string> named_files(const PluginOptions& options) {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& word) {
    for (std::string& path : plugin_files(word)) paths.push_back(std::move(path));
  };
  for (const std::string& word : environment_list(kPluginsVariable)) add(word);
  for (const std::string& word : options.files) add(word);
  return paths;
}

namespace fs = std::filesystem;

constexpr std::string_view kPacks = "packs";
constexpr std::string_view kEnding = "_pack.py";

std::string whole_path(const fs::path& path) { return lasting_path(path.string()); }

/// "torch" where the folder has a file torch_pack.py.
std::vector<std::string> pack_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    std::string file = entry.path().filename().string();
    if (!file.ends_with(kEnding)) continue;
    file.resize(file.size() - kEnding.size());
    names.push_back(std::move(file));
  }
  std::ranges::sort(names);
  return names;
}

std::string file_of(const fs::path& folder, const std::string& name) {
  return whole_path(folder / (name + std::string(kEnding)));
}

std::vector<std::string> all_of(const fs::path& folder) {
  std::vector<std::string> files;
  for (const std::string& name : pack_names(folder)) files.push_back(file_of(folder, name));
  if (files.empty()) {
    throw ConfigError(
        fmt::format("plug-in {}: no file in this folder ends with {}", folder.string(), kEnding));
  }
  return files;
}

std::string pack_file(const fs::path& folder, const std::string& name) {
  const std::vector<std::string> names = pack_names(folder);
  if (std::ranges::find(names, name) != names.end()) return file_of(folder, name);
  throw ConfigError({Diagnostic{{},
                                1,
                                fmt::format("there is no pack '{}'", name),
                                allowed_words_hint(names, name, "packs: "),
                                {}}});
}

}  // namespace

std::vector<PythonEnvironment> environments_of(const std::vector<std::string>& words) {
  std::vector<PythonEnvironment> environments;
  for (const std::string& word : words) environments.push_back(python_environment(word));
  expect_distinct(environments);
  if (!environments.empty()) return environments;
  const char* const named = std::getenv(kPythonVariable);
  return {python_environment(named != nullptr ? named : kUsualPython)};
}

void add_plugin_options(CLI::App& program, PluginOptions& options) {
  const auto add = [&](CLI::App* command) {
    command
        ->add_option(
            "--plugin", options.files,
            "a .so (attnbench/backend.h) or .py file with backends; or packs: the kernels "
            "of vLLM, SGLang and so on, out of installed packages; or packs/NAME: those of "
            "one pack; repeatable")
        ->type_name("FILE")
        ->check(not_empty())
        ->allow_extra_args(false);
    command
        ->add_option("--python", options.python,
                     "interpreter of .py plug-ins; repeatable with names, v33=NEW/bin/python: a "
                     "backend that two environments have is v33/vllm:fa3 in this one; if not "
                     "given: the scenario's, ATTNBENCH_PYTHON or python3")
        ->type_name("[NAME=]PROGRAM")
        ->check(not_empty())
        ->allow_extra_args(false);
    command
        ->add_option_function<double>(
            "--plugin-timeout",
            [&options](double seconds) {
              options.describing.limit = std::chrono::duration<double>(seconds);
            },
            "a plug-in file that has not said by then which backends it holds hangs as it is "
            "loaded: 30s, 5min")
        ->transform(seconds("plugin-timeout"))
        ->type_name("TIME")
        ->default_str(fmt::format("{}s", Describing().limit.count()));
  };
  for (const char* name : {"run", "expand", "support", "dump", "profile", "judge"}) {
    add(program.get_subcommand(name));
  }
  add(program.get_subcommand("list")->get_subcommand("backends"));
  for (const char* name : {"run", "dump", "profile"}) {
    CLI::App* const command = program.get_subcommand(name);
    CLI::Option* const option = command->add_flag(
        "--in-process", options.in_process,
        "load .so plug-ins into this process, without the protection of a process of their own: "
        "one that crashes, exits or hangs ends the run; what is not finished is lost");
    if (CLI::Option* const isolate = command->get_option_no_throw("--isolate")) {
      option->excludes(isolate)->group(isolate->get_group());
    }
  }
}

KnownBackends::KnownBackends(Registry registry, const PluginOptions& options)
    : builtin_(std::move(registry)),
      files_(named_files(options)),
      of_command_(environments_of(options.python)),
      asked_by_option_(!options.python.empty()),
      in_process_(options.in_process),
      describing_(options.describing) {
  if (const char* const named = std::getenv(kPluginsVariable)) of_environment_ = named;
  unsetenv(kPluginsVariable);  // the processes below would load the files again
}

/// Registers what the file holds, once.
void KnownBackends::load_once(const std::string& path, PythonHost& host, Registry& registry) const {
  const auto of_this_file = [&](const Registry::Entry& entry) { return entry.plugin == path; };
  if (std::ranges::any_of(registry.entries(), of_this_file)) return;
  if (!path.ends_with(".py")) {
    in_process_ ? load_plugin(path, cuda_absence(), registry)
                : add_object_plugin(path, cuda_absence(), registry, host.describing);
    return;
  }
  for (std::string& trouble : load_python_plugin(path, host, cuda_absence(), registry)) {
    if (std::ranges::find(troubles_, trouble) == troubles_.end()) {
      troubles_.push_back(std::move(trouble));
    }
  }
}

const Registry& KnownBackends::registry_in(const std::vector<PythonEnvironment>& python) const {
  if (!loaded_ || loaded_in_ != python) {
    Registry registry = builtin_;
    host_ = {python, worker_library(), describing_};
    for (const std::string& path : files_) load_once(path, host_, registry);
    loaded_ = std::move(registry);
    loaded_in_ = python;
  }
  return *loaded_;
}

const std::vector<PythonEnvironment>& KnownBackends::python_of(const Scenario& scenario) const {
  return !asked_by_option_ && !scenario.python.empty() ? scenario.python : of_command_;
}

Registry KnownBackends::with_candidate(const std::string& file, const Scenario& scenario,
                                       std::vector<std::string> confined_by) const {
  Registry all = registry_in(python_of(scenario));
  if (std::ranges::find(all.entries(), file, &Registry::Entry::plugin) != all.entries().end()) {
    throw ConfigError(fmt::format("{} is the candidate: --plugin cannot name it, too", file));
  }
  PythonHost host = host_;
  host.describing.confined_by = std::move(confined_by);
  load_once(file, host, all);
  return all;
}

Registry KnownBackends::with_those_of(const Scenario& scenario,
                                      const std::vector<std::string>& names) const {
  Registry all = registry_in(python_of(scenario));
  Problems problems(scenario.text, scenario.path);
  for (std::size_t i = 0; i < scenario.backends.size(); ++i) {
    if (!is_plugin_file(scenario.backends[i])) continue;
    const Place& place = scenario.backend_places.at(i);
    try {
      load_once(scenario.backends[i], host_, all);
    } catch (const ConfigError& error) {
      problems.add(place, error.diagnostics().front().message);
    } catch (const EnvironmentError& error) {
      throw EnvironmentError(
          fmt::format("{}:{}:{}: {}", scenario.path, place.line, place.column, error.what()));
    }
  }
  for (std::size_t i = 0; i < scenario.backends.size(); ++i) {
    if (is_plugin_file(scenario.backends[i]) || !is_joined(scenario.backends[i])) continue;
    try {
      add_joined(all, scenario.backends[i]);
    } catch (const ConfigError& error) {
      const Diagnostic& wrong = error.diagnostics().front();
      problems.add(scenario.backend_places.at(i), wrong.message, wrong.hint);
    }
  }
  problems.throw_if_any();
  for (const std::string& name : names) {
    if (is_joined(name)) add_joined(all, name);
  }
  return all;
}

std::string packs_folder() {
  const fs::path installed = fs::path(self_path()).parent_path() / "../share/attnbench" / kPacks;
  std::error_code ignored;
  const fs::path tree = fs::path(ATTNBENCH_SOURCE_DIR) / "backends" / kPacks;
  return whole_path(fs::is_directory(installed, ignored) ? installed : tree);
}

std::vector<std::string> plugin_files(const std::string& word, const std::string& packs) {
  std::error_code ignored;
  if (fs::is_directory(word, ignored)) return all_of(word);
  if (word == kPacks) return all_of(packs);
  const fs::path path = word;
  if (path.parent_path() == kPacks && !path.has_extension() && !fs::exists(path, ignored)) {
    return {pack_file(packs, path.filename().string())};
  }
  return {whole_path(path)};
}

}  // namespace attnbench
