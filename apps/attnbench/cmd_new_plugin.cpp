// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/option_values.h"
#include "apps/attnbench/plugins.h"
#include "lib/base/embedded_file.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/base/shell_text.h"
#include "lib/base/system.h"
#include "lib/isolate/child_output.h"
#include "lib/profile/profiler_line.h"
#include "lib/result/result_file.h"

namespace attnbench {

/// example_plugin.c and python_example.py of backends/, in this order.
std::span<const EmbeddedFile> embedded_plugins();

namespace {

namespace fs = std::filesystem;

struct NewPluginOptions {
  std::string name, folder = ".";
  bool c = false, python = false;

  [[nodiscard]] std::string path() const {
    return std::filesystem::path(folder) / (name + (python ? ".py" : ".c"));
  }
};

void check_name(const std::string& name, const Registry& registry) {
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz";
  constexpr std::string_view kLater = "abcdefghijklmnopqrstuvwxyz0123456789_";
  if (name.find_first_of(kFirst) != 0 || name.find_first_not_of(kLater) != std::string::npos) {
    throw ConfigError(fmt::format(
        "'{}' is not a name of a plug-in: it begins with a lower case letter and consists of lower "
        "case letters, digits and '_'",
        name));
  }
  if (registry.find(name) != nullptr) {
    throw ConfigError(fmt::format("there is a backend '{}' already: choose another name", name));
  }
}

std::string source_of(const std::string& name, bool python) {
  const EmbeddedFile& example = python ? embedded_plugins().back() : embedded_plugins().front();
  std::string text(example.text);
  for (std::size_t at = 0; (at = text.find(example.stem, at)) != std::string::npos;) {
    text.replace(at, example.stem.size(), name);
    at += name.size();
  }
  return text;
}

/// The interpreter of a plug-in where no option names one.
std::string usual_python() {
  const char* const named = std::getenv(kPythonVariable);
  return named != nullptr ? named : kUsualPython;
}

bool has_numpy(const std::string& python) {
  try {
    return output_of_child({python, "-c", "import numpy"}, std::chrono::minutes(2)).is_well();
  } catch (const EnvironmentError&) {
    return false;  // there is no such program
  }
}

/// The usual one, or else the first on PATH; empty: none has it.
std::string python_with_numpy(const std::string& usual) {
  if (has_numpy(usual)) return usual;
  for (const std::string& folder : environment_list("PATH")) {
    const std::string python = fs::path(folder) / "python3";
    std::error_code ignored;
    if (fs::exists(python, ignored) && has_numpy(python)) return python;
  }
  return {};
}

/// What comes next: compile it, then run it beside another backend. An installed program has the
/// header and the scenarios beside its folder, any other one in the source tree.
std::string next_lines(const NewPluginOptions& options, const std::string& program) {
  const fs::path installed =
      (fs::path(self_path()).parent_path() / "../include").lexically_normal();
  std::error_code ignored;
  const bool is_installed = fs::exists(installed / "attnbench/backend.h", ignored);
  const fs::path tree = ATTNBENCH_SOURCE_DIR;
  const fs::path include = is_installed ? installed : tree / "lib/backend/include";
  std::string scenario = "scenarios/quickstart.yaml";
  if (!fs::exists(scenario, ignored)) scenario = is_installed ? "quickstart" : tree / scenario;

  const std::string stem = fs::path(options.folder) / options.name;
  if (options.python) {
    std::vector<std::string> words = {program,
                                      "run",
                                      scenario,
                                      "--plugin",
                                      stem + ".py",
                                      "--backend",
                                      options.name + ",cpu_flash"};
    const std::string usual = usual_python(), with_numpy = python_with_numpy(usual);
    if (with_numpy.empty()) {
      return shell_text({usual, "-m", "pip", "install", "numpy"}) + '\n' + shell_text(words) + '\n';
    }
    if (with_numpy != usual) words.insert(words.end(), {"--python", with_numpy});
    return shell_text(words) + '\n';
  }
  return shell_text({"cc", "-std=c99", "-O3", "-Wall", "-Wextra", "-shared", "-fPIC", "-I", include,
                     stem + ".c", "-o", stem + ".so", "-lm"}) +
         '\n' +
         shell_text({program, "run", scenario, "--plugin", stem + ".so", "--backend",
                     options.name + ",cpu_flash"}) +
         '\n';
}

int new_plugin(const NewPluginOptions& options, const Registry& registry, Console& console) {
  if (options.c == options.python) throw ConfigError("say in which language: --c or --python");
  check_name(options.name, registry);
  const std::string path = options.path();
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(path, ignored))) {
    throw ConfigError(fmt::format("{} is there already: choose another name or folder", path));
  }
  write_result_file(path, console.out,
                    [&](std::ostream& out) { out << source_of(options.name, options.python); });
  console.out << next_lines(options, console.program);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void add_new_plugin_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<NewPluginOptions>();
  CLI::App* new_plugin_app = app.add_subcommand(
      "new-plugin",
      "Write NAME.c or NAME.py, a complete backend to begin with; then print the lines "
      "that compile and run it.\n\n"
      "  attnbench new-plugin mine --c\n"
      "  attnbench new-plugin mine --python\n");
  new_plugin_app->add_option("name", options->name, "of the backend and of its file")->required();
  new_plugin_app->add_flag("--c", options->c, "as a shared object, in C");
  new_plugin_app->add_flag("--python", options->python, "in Python, with numpy");
  new_plugin_app->add_option("-o,--output", options->folder, "folder to write into")
      ->check(not_empty())
      ->capture_default_str();
  new_plugin_app->callback([options, &action] {
    action = [options](const KnownBackends& known, Console& console) {
      return new_plugin(*options, known.registry(), console);
    };
  });
}

}  // namespace attnbench
