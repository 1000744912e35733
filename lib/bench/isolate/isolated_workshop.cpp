// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/isolate/isolated_workshop.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/base/error.h"
#include "lib/bench/isolate/json_fields.h"
#include "lib/bench/isolate/remote_work.h"

namespace attnbench {

IsolatedWorkshop::IsolatedWorkshop(const Scenario& scenario, Isolation isolation)
    : scenario_(&scenario), isolation_(std::move(isolation)) {
  // Until the devices are prepared there are no results that a stop could keep.
  isolation_.stop_requested = [this, stop = isolation_.stop_requested] {
    return !preparing_ && stop && stop();
  };
}

IsolatedWorkshop::~IsolatedWorkshop() {
  for (const auto& [name, worker] : workers_) {
    if (worker) worker->dismiss();  // so that all end at the same time
  }
}

DeviceInfo IsolatedWorkshop::host() const {
  return make_cpu_device(isolation_.devices.threads, isolation_.devices.cpu_target)->info();
}

RemoteWorker& IsolatedWorkshop::worker_of(const Registry::Entry& entry) {
  std::unique_ptr<RemoteWorker>& worker = workers_[entry.info.name];
  if (worker && !worker->trusted()) worker.reset();
  if (!worker) {
    worker = std::make_unique<RemoteWorker>(*scenario_, isolation_, entry);
  }
  return *worker;
}

std::vector<RunDevice> IsolatedWorkshop::prepare(std::span<const Registry::Entry* const> backends) {
  std::vector<RunDevice> used;
  preparing_ = true;
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kCuda}) {
    const auto first = std::ranges::find_if(backends, [&](const Registry::Entry* entry) {
      return entry->make && entry->info.device == kind;
    });
    if (first == backends.end()) continue;
    try {
      const nlohmann::json answer = worker_of(**first).ask("measuring the device");
      used.push_back({from_json_fields<DeviceInfo>(answer.at(0)),
                      from_json_fields<Ceilings>(answer.at(1)),
                      {}});
    } catch (const BackendFailed& failure) {
      throw EnvironmentError(fmt::format("the device cannot be measured: {}", failure.what()));
    }
  }
  preparing_ = false;
  return used;
}

std::unique_ptr<BackendWork> IsolatedWorkshop::begin(const Case& c, const Registry::Entry& entry) {
  return std::make_unique<RemoteWork>(c, worker_of(entry));
}

std::vector<pid_t> IsolatedWorkshop::children() const {
  std::vector<pid_t> pids;
  for (const auto& [name, worker] : workers_) {
    if (worker && worker->pid() > 0) pids.push_back(worker->pid());
  }
  return pids;
}

}  // namespace attnbench
