// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/result/record.h"
#include "lib/run/checked_samples.h"
#include "lib/session/executor.h"
#include "lib/session/session.h"

namespace attnbench {

/// What timing one cell of a backend found.
struct CandidateTiming {
  CacheState cache;
  LaunchMode launch;
  CellTiming timing;
  SampleChecks checks = {};
  BatchedGraphTiming graph_n = {};
};

/// One backend's state in a case.
struct Candidate {
  const Registry::Entry* entry = nullptr;
  RunDevice* device = nullptr;  ///< null when the run has none for it
  std::unique_ptr<Session> session;
  Verification verification;
  std::optional<Outcome> ended;    ///< why it takes no part any more
  Skipped late_trouble;            ///< met once it was timed, whose times stay; usually none
  std::vector<Numerics> numerics;  ///< one a step of the case
  PlanCost plan;
  RecordedPlan recorded;
  std::optional<KvLayout> layout;  ///< of the cache that it reads, once it supports the case
  std::vector<CandidateTiming> timings;

  [[nodiscard]] bool runs() const { return !ended; }
  /// Ends its work. A wrong result stays wrong.
  void rule_out(Outcome outcome);
  /// Ends its work, if it still runs, for the exception that is being handled. What was timed
  /// stays.
  void end_for_current_exception();
};

}  // namespace attnbench
