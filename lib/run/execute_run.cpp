// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/execute_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/isolate/isolated_executor.h"
#include "lib/run/processor_load.h"
#include "lib/session/local_executor.h"

namespace attnbench {
namespace {

/// Backends work in this process, except those with a host process of their own.
class MixedExecutor final : public Executor {
 public:
  /// Both must outlive it.
  MixedExecutor(Executor& here, Executor& elsewhere) : here_(&here), elsewhere_(&elsewhere) {}

  [[nodiscard]] DeviceInfo host() const override { return here_->host(); }

  /// A device is measured once for all backends that run on it; here, if it is open here, where no
  /// code of a plug-in is.
  [[nodiscard]] std::vector<RunDevice> prepare(
      std::span<const Registry::Entry* const> backends) override {
    std::vector<RunDevice> devices = here_->prepare(backends);
    std::vector<const Registry::Entry*> hosted(backends.begin(), backends.end());
    std::erase_if(hosted, [&](const Registry::Entry* entry) {
      return std::ranges::any_of(
          devices, [&](const RunDevice& device) { return device.info.kind == entry->info.device; });
    });
    for (RunDevice& device : elsewhere_->prepare(hosted)) devices.push_back(std::move(device));
    return devices;
  }

  [[nodiscard]] std::unique_ptr<Session> begin(const Case& c, const Registry::Entry& entry,
                                               int rounds) override {
    return (entry.host.empty() ? here_ : elsewhere_)->begin(c, entry, rounds);
  }

 private:
  Executor* here_;
  Executor* elsewhere_;
};

/// Rough ones are no figures for later runs, nor are those of a processor that others keep busy.
KeptCeilings kept_ceilings(const ExecutionOptions& options, bool rough) {
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

RunResult execute_run(const ExecutionOptions& options, const Scenario& scenario,
                      const RunPlan& plan, const RunHooks& hooks,
                      const std::function<void(const std::string&)>& note) {
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
  if (options.instrumented) local.trust_timers();
  IsolatedExecutor hosted(scenario, isolation);
  MixedExecutor executor(local, hosted);
  RunResult result = run_scenario(scenario, plan, executor, hooks);
  result.wall_s += opening_s;
  result.spent.starting += opening_s;
  return result;
}

}  // namespace attnbench
