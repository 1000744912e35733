// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/run/driver.h"
#include "lib/run/processor_load.h"
#include "lib/run/timed_checks.h"
#include "lib/session/executor.h"

namespace attnbench {

/// One case from verification to records. It lives as long as the case is worked on; fixtures,
/// backends and workspaces are freed with it. The executor runs the backends' code; this class
/// decides the order and the rounds and makes the records.
class CaseRun {
 public:
  CaseRun(const Scenario& scenario, const Case& c, const Cost& cost, Executor& executor,
          std::span<RunDevice> devices, const RunHooks& hooks);

  /// Records of every cell, backend after backend. Adds to `spent` what the time went to, but for
  /// the rest.
  [[nodiscard]] std::vector<Record> run(std::span<const Registry::Entry* const> entries,
                                        TimeAccount& spent, const ProcessorLoad& load);
  /// Records of a case that was never begun.
  [[nodiscard]] std::vector<Record> skip(std::span<const Registry::Entry* const> entries,
                                         const std::string& reason) const;

 private:
  struct Timing {
    CacheState cache;
    LaunchMode launch;
    CellTiming timing;
    SampleChecks checks = {};
    BatchedGraphTiming graph_n = {};
  };

  /// One backend's state in the case.
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
    std::vector<Timing> timings;

    [[nodiscard]] bool runs() const { return !ended; }
  };

  /// A cell under way, and where its result belongs.
  struct Cell {
    Candidate* owner;
    CacheState cache;
    LaunchMode launch;
    std::unique_ptr<WatchedSamples> samples;
  };

  // case_run.cpp
  void begin(Candidate& candidate);
  void consider(Candidate& candidate);
  /// Runs `step`. What it throws ends the candidate's work, or that of all on a lost device.
  void attempt(Candidate& candidate, const std::function<void()>& step);
  /// Runs `step`. What it throws ends the work of all candidates.
  void attempt_for_all(const std::function<void()>& step);
  /// Ends the candidate's work, if it still runs, for the exception that is being handled. What was
  /// timed stays.
  static void end_for_current_exception(Candidate& candidate);
  void lose(RunDevice& device, const std::string& trouble);
  /// attempt() with each candidate that runs, until a stop is asked for.
  void for_all_that_run(const std::function<void(Candidate&)>& step);
  void verify();
  void observe(Candidate& candidate, const StepTruths& truth);
  void plan(RunDevice& device);
  /// What a plan of so much workspace is refused with; empty where it may have it.
  [[nodiscard]] std::string beyond_workspace_limit(std::int64_t bytes) const;
  void fill_for_timing(RunDevice& device);
  [[nodiscard]] std::vector<Cell> cells_on(RunDevice& device);
  [[nodiscard]] std::unique_ptr<WatchedSamples> watched(std::unique_ptr<SampleSource> samples);
  /// Results in the order of `cells`; empty ones when the scenario verifies nothing.
  [[nodiscard]] std::vector<SampleChecks> checked(std::span<const CheckedCell> cells);
  void work();
  void time();
  void time_on(RunDevice& device);
  /// Whether the workspace is damaged again when each of the candidate's cells is visited alone.
  [[nodiscard]] bool damages_again(Candidate& candidate, std::span<const Cell> cells);
  /// Times the short graph cells of a GPU again, with many forwards in a graph.
  void time_batched_graphs(RunDevice& device);
  [[nodiscard]] std::vector<CellTiming> measure(std::span<const SourcedCell> cells,
                                                std::uint64_t stream);
  /// Whether the case is timed in this launch mode, with the reason if not.
  [[nodiscard]] Support takes(const Registry::Entry& entry, LaunchMode launch) const;
  /// The same, once the candidate has planned.
  [[nodiscard]] Support takes(const Candidate& candidate, LaunchMode launch) const;
  /// --force-graph: a graph that the backend does not claim.
  [[nodiscard]] bool is_forced(const Registry::Entry& entry, LaunchMode launch) const;
  /// Ends its work. A wrong result stays wrong.
  static void rule_out(Candidate& candidate, Outcome outcome);
  [[nodiscard]] bool anyone_runs() const;
  [[nodiscard]] bool stop_requested() const;
  void tell(const std::string& what) const;

  // case_records.cpp
  [[nodiscard]] RunDevice* device_of(const Registry::Entry& entry) const;
  /// Those of the GPU that takes part, or of a usual one when there is none.
  [[nodiscard]] int multiprocessors() const;
  [[nodiscard]] ChosenByEngines engine_choice() const;
  [[nodiscard]] Record blank_record(const Registry::Entry& entry, CacheState cache,
                                    LaunchMode launch) const;
  [[nodiscard]] Record make_record(const Candidate& candidate, CacheState cache,
                                   LaunchMode launch) const;
  /// Of the plan that such launches run, once the candidate has planned.
  [[nodiscard]] static std::int64_t workspace_of(const Candidate& candidate, LaunchMode launch);
  /// Of a cell that was timed: its figures, and its outcome unless `wrong` says what is wrong.
  void add_timing(Record& r, const Candidate& candidate, const Timing& measured,
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
  const Case* case_;
  Cost cost_;
  Executor* executor_;
  std::span<RunDevice> devices_;
  const RunHooks* hooks_;
  std::vector<Candidate> candidates_;
  std::string fixture_hash_;
  std::uint64_t cells_watched_ = 0;
  TimeAccount spent_;
};

}  // namespace attnbench
