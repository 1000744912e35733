// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apps/attnbench/command.h"
#include "apps/attnbench/plugins.h"
#include "lib/backend/plugin.h"
#include "lib/base/exit_code.h"
#include "lib/device/cuda/cuda_device.h"
#include "lib/isolate/file_plugins.h"
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

}  // namespace attnbench
