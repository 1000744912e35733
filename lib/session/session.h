// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/backend/format_choice.h"
#include "lib/measure/sample_source.h"
#include "lib/session/batched_graph.h"
#include "lib/session/index_timing.h"
#include "lib/verify/observation.h"

namespace attnbench {

/// A backend threw, or took its process down: its session is over.
class BackendFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The run was asked to stop while a step was under way; there is no result of it.
class RunStopped : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "stopped"; }
};

/// What a plan takes.
struct PlanCost {
  HostTiming host;  ///< time of planning
  /// That the plan reserved; 0: none, or its library has memory of its own, which nobody can tell.
  std::int64_t workspace_bytes = 0;
  double building_us = 0;  ///< host time in which fixtures were made for it
};

/// The plan that graph launches of a step replay.
struct RecordedPlan {
  HostTiming update;                 ///< host time of planning the step before a replay
  std::int64_t workspace_bytes = 0;  ///< as of PlanCost
  std::string refusal;               ///< why there is no such plan; empty otherwise
};

/// One backend at work on one case, in whatever process. Steps in this order; each may throw
/// BackendFailed, RunStopped, EnvironmentError (no memory) or CudaError (the device is lost, for
/// every backend on it).
class Session {
 public:
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Whether the backend supports the case, and the cache layout that it gets in all later steps.
  [[nodiscard]] virtual FormatChoice supports() = 0;
  /// Where the backend rounds, of a case that it supports: in each of its steps (steps_of()).
  [[nodiscard]] virtual std::vector<Numerics> numerics() = 0;
  /// To be called before observe(), for all sessions: those with a process of their own build their
  /// fixtures, compile kernels and run at the same time. `wanted` must live until observe().
  virtual void begin_observing(const WantedRows& wanted) = 0;
  /// Runs the backend for a verification; the caller has the expected results.
  [[nodiscard]] virtual Observation observe() = 0;
  /// To be called after a verification: repairs memory that the backend damaged, for the next
  /// backend.
  virtual void repair_fixture() = 0;
  /// On queries and a cache that hold poison, so before fill_for_timing().
  [[nodiscard]] virtual PlanCost plan() = 0;
  /// Where the case's problem can be recorded: from now on graph launches are padded and updated,
  /// as an engine's are. Also on poison. Nothing is done for other cases, whose graphs replay
  /// plan().
  [[nodiscard]] virtual RecordedPlan plan_recorded() = 0;
  /// Returns the fixture's hash.
  [[nodiscard]] virtual std::string fill_for_timing() = 0;
  /// Of the case, on a GPU.
  [[nodiscard]] virtual IndexTiming time_indices() = 0;
  /// The result must not outlive this object. The backend stays planned while its cells take
  /// samples.
  [[nodiscard]] virtual std::unique_ptr<SampleSource> samples(CacheState cache,
                                                              LaunchMode launch) = 0;
  /// The same for a graph of many forwards, on copies of the inputs that take turns. Its warm_up()
  /// makes the copies, and throws EnvironmentError when there is no memory for them. Null where the
  /// step has no such graph (batched_graph_for()).
  [[nodiscard]] virtual std::unique_ptr<SampleSource> batched_samples(CacheState cache,
                                                                      BatchedGraph graph) = 0;
  /// To be called after the last sample. Throws if the device is lost. Reports changed guard bytes
  /// of the backend's own memory, which are then restored; empty when there are none.
  [[nodiscard]] virtual std::string finish() = 0;

 protected:
  Session() = default;
};

}  // namespace attnbench
