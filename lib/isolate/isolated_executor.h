// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/isolate/remote_worker.h"
#include "lib/session/executor.h"

namespace attnbench {

/// Every backend works in a child process of its own, which makes case and fixture from the
/// scenario again: contents follow from the seed, so only the reference is sent. This process opens
/// no GPU. A child lives through the run and is replaced after a failure, so when a backend ends
/// its process or loses its GPU, only its own cells of one case are lost. Each child that works on
/// a case holds its own copy of the fixture.
class IsolatedExecutor final : public Executor {
 public:
  /// The scenario must come from text (Scenario::text) and outlive this, as must the registry.
  IsolatedExecutor(const Scenario& scenario, Isolation isolation);
  ~IsolatedExecutor() override;

  [[nodiscard]] DeviceInfo host() const override;
  [[nodiscard]] std::vector<RunDevice> prepare(
      std::span<const Registry::Entry* const> backends) override;
  [[nodiscard]] std::unique_ptr<Session> begin(const Case& c, const Registry::Entry& entry,
                                               int rounds) override;

  /// Process ids of the children there are now.
  [[nodiscard]] std::vector<pid_t> children() const;

 private:
  /// Starts a child where there is none, or where the present one has failed.
  RemoteWorker& worker_of(const Registry::Entry& entry);

  const Scenario* scenario_;
  Isolation isolation_;
  bool preparing_ = false;
  std::optional<ProcessFamily> family_;                           ///< once there is a child
  std::map<std::string, std::unique_ptr<RemoteWorker>> workers_;  ///< by backend
};

}  // namespace attnbench
