// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/result/record.h"
#include "lib/run/candidate.h"
#include "lib/run/run_plan.h"

namespace attnbench {

/// Whether --force-graph times a graph that the backend does not claim for the case.
[[nodiscard]] bool is_forced(const Case& c, const MeasureConfig& measure,
                             const Registry::Entry& entry, LaunchMode launch);

/// Whether the case is timed in this launch mode, with the reason if not.
[[nodiscard]] Support takes_launch(const Case& c, const MeasureConfig& measure,
                                   const Registry::Entry& entry, LaunchMode launch);
/// The same, once the candidate has planned.
[[nodiscard]] Support takes_launch(const Case& c, const MeasureConfig& measure,
                                   const Candidate& candidate, LaunchMode launch);

/// Makes the records of one case out of what its candidates found.
class CaseRecords {
 public:
  /// All must outlive it.
  CaseRecords(const Scenario& scenario, const PlannedCase& planned, std::span<RunDevice> devices);

  /// Of every cell of a case that a stop kept from beginning, backend after backend.
  [[nodiscard]] std::vector<Record> interrupted() const;
  /// Of one cell. `fixture_hash` is empty where no fixture was filled for timing.
  [[nodiscard]] Record record_of(const Candidate& candidate, CacheState cache, LaunchMode launch,
                                 const std::string& fixture_hash) const;

 private:
  [[nodiscard]] Record blank_record(const Registry::Entry& entry, CacheState cache,
                                    LaunchMode launch) const;
  /// Of a cell that was timed: its figures, and its outcome unless `wrong` says what is wrong.
  void add_timing(Record& r, const Candidate& candidate, const CandidateTiming& measured,
                  const std::string& wrong) const;
  /// Which part of the work was faster than a ceiling of the candidate's device; empty when none
  /// was. Ceilings of an earlier run are measured again before they say so.
  [[nodiscard]] std::string beyond_ceilings_of(const Candidate& candidate, CacheState cache,
                                               double seconds) const;
  /// Why a time that is possible is no full measurement; empty when it is.
  [[nodiscard]] std::string shortcoming(const CellTiming& timing) const;
  [[nodiscard]] BatchedGraphTiming judged(BatchedGraphTiming graph_n, CacheState cache,
                                          const Candidate& candidate) const;

  const Scenario* scenario_;
  const PlannedCase* planned_;
  std::span<RunDevice> devices_;
  CascadeChoice use_cascade_;      ///< on the GPU that takes part, or on a usual one
  ChosenByEngines engine_choice_;  ///< for the GPU that takes part, if one does
};

/// The device of the kind that the backend runs on; null where the run has none.
[[nodiscard]] RunDevice* device_of(const Registry::Entry& entry, std::span<RunDevice> devices);

}  // namespace attnbench
