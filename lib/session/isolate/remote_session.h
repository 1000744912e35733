// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/session/isolate/remote_worker.h"
#include "lib/session/session.h"

namespace attnbench {

/// A session in a child process, which begins to consider the case while others do.
class RemoteSession final : public Session {
 public:
  RemoteSession(const Case& c, int rounds, RemoteWorker& worker);
  ~RemoteSession() override;

  [[nodiscard]] FormatChoice supports() override;
  [[nodiscard]] std::vector<Numerics> numerics() override;
  void begin_observing(const WantedRows& wanted) override;
  [[nodiscard]] Observation observe() override;
  void tidy_up() override;
  [[nodiscard]] std::string fill_for_timing() override;
  [[nodiscard]] PlanCost plan() override;
  [[nodiscard]] RecordedPlan plan_recorded() override;
  [[nodiscard]] IndexTiming time_indices() override;
  [[nodiscard]] std::unique_ptr<SampleSource> samples(CacheState cache, LaunchMode launch) override;
  [[nodiscard]] std::unique_ptr<SampleSource> batched_samples(CacheState cache,
                                                              BatchedGraph graph) override;
  [[nodiscard]] std::string finish() override;

 private:
  RemoteWorker* worker_;
  int cells_ = 0;
};

}  // namespace attnbench
