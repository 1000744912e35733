// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/run_in_place.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/isolate/isolated_executor.h"
#include "lib/run/processor_load.h"
#include "lib/session/local_executor.h"
#include "lib/session/mixed_executor.h"

namespace attnbench {
namespace {

/// Rough ones are no figures for later runs, nor are those of a processor that others keep busy.
KeptCeilings kept_ceilings(const RunOptions& options, bool rough) {
  std::string machine = this_machine();
  if (!machine.empty() && options.devices.gpu) {
    machine += fmt::format(" gpu {}", *options.devices.gpu);
  }
  return KeptCeilings({.folder = cache_folder(),
                       .machine = std::move(machine),
                       .finds = !options.remeasure,
                       .keeps = !rough,
                       .watch = [] {
                         const auto load = std::make_shared<ProcessorLoad>();
                         return [load] { return load->others().disturb(); };
                       }});
}

}  // namespace

RunResult run_in_place(const RunOptions& options, const PlannedRun& planned, const RunHooks& hooks,
                       const std::function<void(const std::string&)>& note) {
  const auto& [scenario, filter, registry, plan] = planned;
  // A cell of one round that nobody checks claims little: ceilings as rough as its time will do.
  // The processes of `ab`, which are such, spend most of their time on ceilings otherwise.
  const bool rough =
      options.quick || (scenario.measure.max_rounds == 1 && !scenario.verify.enabled);
  Isolation isolation{.devices = options.devices,
                      .ceiling_turns = rough ? 1 : kCeilingTurns,
                      .stop_requested = hooks.stop_requested,
                      .note = note};
  isolation.kept_ceilings = kept_ceilings(options, rough);
  if (options.timeout_s) isolation.timeout_s = *options.timeout_s;
  std::vector<const Registry::Entry*> here = plan.backends;
  isolation.processes = static_cast<int>(here.size());
  if (options.isolate) {
    IsolatedExecutor executor(scenario, isolation);
    return run_scenario(scenario, plan, executor, hooks);
  }
  const auto elsewhere =
      std::erase_if(here, [](const Registry::Entry* entry) { return !entry->host.empty(); });
  isolation.processes = static_cast<int>(elsewhere) + (here.empty() ? 0 : 1);
  double opening_s = 0;
  const Devices devices = [&] {
    const Lap lap(opening_s);
    return open_devices(here, options.devices);
  }();
  LocalExecutor local(devices, isolation.ceiling_turns, isolation.processes,
                      isolation.kept_ceilings);
  IsolatedExecutor hosted(scenario, isolation);
  MixedExecutor executor(local, hosted);
  RunResult result = run_scenario(scenario, plan, executor, hooks);
  result.wall_s += opening_s;
  result.spent.starting += opening_s;
  return result;
}

}  // namespace attnbench
