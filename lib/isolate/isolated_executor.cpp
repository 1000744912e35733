// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/isolated_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/base/error.h"
#include "lib/isolate/fields.h"
#include "lib/isolate/sandbox.h"

namespace attnbench {
IsolatedExecutor::IsolatedExecutor(const Scenario& scenario, Isolation isolation)
    : scenario_(&scenario), isolation_(std::move(isolation)) {
  // Until the devices are prepared there are no results that a stop could keep.
  isolation_.stop_requested = [this, stop = isolation_.stop_requested] {
    return !preparing_ && stop && stop();
  };
}

IsolatedExecutor::~IsolatedExecutor() {
  for (const auto& [name, worker] : workers_) {
    if (worker) worker->dismiss();  // so that all end at the same time
  }
}

DeviceInfo IsolatedExecutor::host() const {
  return make_cpu_device(isolation_.devices.threads, isolation_.devices.cpu_target)->info();
}

RemoteWorker& IsolatedExecutor::worker_of(const Registry::Entry& entry) {
  std::unique_ptr<RemoteWorker>& worker = workers_[entry.info.name];
  if (worker && !worker->trusted()) worker.reset();
  if (!worker) {
    if (!family_) family_.emplace();
    if (!entry.plugin.empty()) close_memory_to_others();
    worker = std::make_unique<RemoteWorker>(*scenario_, isolation_, entry, *family_);
  }
  return *worker;
}

std::vector<RunDevice> IsolatedExecutor::prepare(std::span<const Registry::Entry* const> backends) {
  std::vector<RunDevice> used;
  preparing_ = true;
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) {
    std::vector<const Registry::Entry*> users(backends.begin(), backends.end());
    std::erase_if(users, [&](const Registry::Entry* entry) {
      return !entry->make || entry->info.device != kind;
    });
    if (users.empty()) continue;
    // A process with a plug-in's code is not asked where there is another.
    const auto own = std::ranges::find_if(
        users, [](const Registry::Entry* entry) { return entry->plugin.empty(); });
    const Registry::Entry& asked = own == users.end() ? *users.front() : **own;
    try {
      used.push_back({from_json_fields<DeviceInfo>(worker_of(asked).ask("describing the device")),
                      {},
                      {},
                      {}});
      // A plug-in's process could tell any rate: others are not to be judged by it.
      const bool own_code = asked.plugin.empty() && asked.host.empty();
      const KeptCeilings kept = own_code ? isolation_.kept_ceilings : KeptCeilings();
      kept.find_or_measure(used.back(), [this, &asked] {
        return from_json_fields<Ceilings>(worker_of(asked).ask("measuring the device"));
      });
    } catch (const BackendFailed& failure) {
      throw EnvironmentError(fmt::format("the device cannot be measured: {}", failure.what()));
    }
  }
  preparing_ = false;
  return used;
}

std::unique_ptr<Session> IsolatedExecutor::begin(const Case& c, const Registry::Entry& entry,
                                                 int rounds) {
  return begin_remote_session(c, rounds, worker_of(entry));
}

std::vector<pid_t> IsolatedExecutor::children() const {
  std::vector<pid_t> pids;
  for (const auto& [name, worker] : workers_) {
    if (worker && worker->pid() > 0) pids.push_back(worker->pid());
  }
  return pids;
}

}  // namespace attnbench
