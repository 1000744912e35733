// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "lib/isolate/fields.h"
#include "lib/isolate/remote_worker.h"
#include "lib/isolate/session_calls.h"
#include "lib/session/session.h"

namespace attnbench {

/// A session in a child process, which begins to consider the case while others do.
class RemoteSession final : public Session {
 public:
  RemoteSession(const Case& c, int rounds, RemoteWorker& worker);
  ~RemoteSession() override;

  [[nodiscard]] FormatChoice supports() override;
  [[nodiscard]] std::vector<Numerics> numerics() override { return call(&Session::numerics); }
  void begin_observing(const WantedRows& wanted) override;
  [[nodiscard]] Observation observe() override;
  void tidy_up() override { call(&Session::tidy_up); }
  [[nodiscard]] std::string fill_for_timing() override { return call(&Session::fill_for_timing); }
  [[nodiscard]] PlanCost plan() override { return call(&Session::plan); }
  [[nodiscard]] RecordedPlan plan_recorded() override { return call(&Session::plan_recorded); }
  [[nodiscard]] IndexTiming time_indices() override { return call(&Session::time_indices); }
  [[nodiscard]] std::unique_ptr<SampleSource> samples(CacheState cache, LaunchMode launch) override;
  [[nodiscard]] std::unique_ptr<SampleSource> batched_samples(CacheState cache,
                                                              BatchedGraph graph) override;
  [[nodiscard]] std::string finish() override { return call(&Session::finish); }

 private:
  /// Has the child make this call (session_calls.h).
  template <class Result>
  Result call(Result (Session::*method)()) {
    const nlohmann::json answer = worker_->ask(name_of_call(method));
    if constexpr (!std::is_void_v<Result>) return from_json_fields<Result>(answer);
  }

  RemoteWorker* worker_;
  int cells_ = 0;
};

}  // namespace attnbench
