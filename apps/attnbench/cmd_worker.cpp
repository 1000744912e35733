// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"
#include "apps/attnbench/plugins.h"
#include "lib/backend/plugin.h"
#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/isolate/child_process.h"
#include "lib/isolate/file_plugins.h"
#include "lib/isolate/sandbox.h"
#include "lib/isolate/worker.h"

namespace attnbench {

void add_worker_command(CLI::App& app, Action& action) {
  struct Options {
    int parent = 0;
    std::string object;
  };
  auto options = std::make_shared<Options>();
  CLI::App* worker = app.add_subcommand(kWorkerCommand, "a process of one backend");
  worker->group("");  // not in --help: only a run starts workers
  worker->add_option("parent", options->parent, "process id of the run")->required();
  worker->add_option("--object", options->object, "plug-in whose backends it has, too");
  worker->callback([options, &action] {
    action = [options](const KnownBackends& known, Console&) {
      Registry registry = known.registry();
      if (!become_worker(options->parent)) return static_cast<int>(ExitCode::kInternal);
      if (!options->object.empty()) load_plugin(options->object, cuda_absence(), registry);
      return run_worker(registry, options->parent);
    };
  });
}

void add_describe_command(CLI::App& app, Action& action) {
  struct Options {
    int parent = 0;
    std::string object;
  };
  auto options = std::make_shared<Options>();
  CLI::App* describe = app.add_subcommand(kDescribeCommand, "a process that looks at a plug-in");
  describe->group("");
  describe->add_option("object", options->object, "the plug-in")->required();
  describe->add_option("parent", options->parent, "process id of the command")->required();
  describe->callback([options, &action] {
    action = [options](const KnownBackends&, Console&) {
      if (!become_worker(options->parent)) return static_cast<int>(ExitCode::kInternal);
      describe_object_plugin(options->object);
    };
  });
}

namespace {

/// Becomes the program that the words name, which has this process's limits from then on.
[[noreturn]] void become_program(std::vector<std::string> words) {
  const std::string named = words.front();
  const std::string program = named == ChildProcess::kThisProgram ? "/proc/self/exe" : named;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(program.c_str(), argv.data());
  throw EnvironmentError(fmt::format("cannot run {}: {}", named, std::strerror(errno)));
}

}  // namespace

void add_confined_command(CLI::App& app, Action& action) {
  struct Options {
    std::string scratch;
    std::vector<std::string> words;
  };
  auto options = std::make_shared<Options>();
  CLI::App* confined = app.add_subcommand(kConfinedCommand, "a program in a sandbox");
  confined->group("");
  confined->add_option("--scratch", options->scratch, "where it may write")->required();
  confined->add_option("words", options->words,
                       "its command line, behind --; none: what is missing is printed");
  confined->callback([options, &action] {
    action = [options](const KnownBackends&, Console& console) {
      const std::vector<MissingPart> missing = enter_sandbox(options->scratch);
      if (options->words.empty()) {
        console.out << missing_parts_text(missing) << '\n';
        return static_cast<int>(ExitCode::kOk);
      }
      move_caches_to(options->scratch);
      become_program(options->words);
    };
  });
}

}  // namespace attnbench
