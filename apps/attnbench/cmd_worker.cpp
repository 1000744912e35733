// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "apps/attnbench/command.h"
#include "apps/attnbench/plugins.h"
#include "lib/session/isolate/worker.h"

namespace attnbench {

void add_worker_command(CLI::App& app, Action& action) {
  auto parent = std::make_shared<int>(0);
  CLI::App* worker = app.add_subcommand(kWorkerCommand, "what run --isolate starts");
  worker->group("");  // not in --help: only a run starts workers
  worker->add_option("parent", *parent, "process id of the run")->required();
  worker->callback([parent, &action] {
    action = [parent](const KnownBackends& known, Console&) {
      return run_worker(known.registry(), *parent);
    };
  });
}

}  // namespace attnbench
