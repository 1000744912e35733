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

#include "lib/run/candidate.h"
#include "lib/run/case_records.h"
#include "lib/run/checked_samples.h"
#include "lib/run/driver.h"
#include "lib/run/processor_load.h"
#include "lib/session/executor.h"

namespace attnbench {

/// One case from verification to records. It lives as long as the case is worked on; fixtures,
/// backends and workspaces are freed with it. The executor runs the backends' code; this class
/// decides the order and the rounds.
class CaseRun {
 public:
  CaseRun(const Scenario& scenario, const PlannedCase& planned, Executor& executor,
          std::span<RunDevice> devices, const RunHooks& hooks);

  /// Records of every cell, backend after backend. Adds to `spent` what the time went to, but for
  /// the rest.
  [[nodiscard]] std::vector<Record> run(TimeAccount& spent, const ProcessorLoad& load);
  /// Records of a case that a stop kept from beginning.
  [[nodiscard]] std::vector<Record> skip() const { return records_.interrupted(); }

 private:
  /// A cell under way, and where its result belongs.
  struct Cell {
    Candidate* owner;
    CacheState cache;
    LaunchMode launch;
    std::unique_ptr<CheckedSamples> samples;
  };

  /// Cells that are timed together, with what measuring and checking them takes.
  struct Cells {
    std::vector<Cell> cells;
    std::vector<SourcedCell> sourced;
    std::vector<CheckedCell> to_check;
  };

  // The steps of a case, in their order.
  void begin(Candidate& candidate);
  void consider(Candidate& candidate);
  void work();
  void verify();
  void observe(Candidate& candidate, const StepTruths& truth);
  void time_on(RunDevice& device);
  void plan(RunDevice& device);
  void fill_for_timing(RunDevice& device);
  [[nodiscard]] Cells cells_on(RunDevice& device);
  /// Times the short graph cells of a GPU again, with many forwards in a graph.
  void time_batched_graphs(RunDevice& device);
  void finish(RunDevice& device, std::span<const Cell> cells);

  // How one of them fails.
  /// Runs `step`. What it throws ends the candidate's work, or that of all on a lost device.
  void attempt(Candidate& candidate, const std::function<void()>& step);
  /// Runs `step`. What it throws ends the work of all candidates.
  void attempt_for_all(const std::function<void()>& step);
  void lose(RunDevice& device, const std::string& trouble);
  /// attempt() with each candidate that runs, until a stop is asked for.
  void for_all_that_run(const std::function<void(Candidate&)>& step);
  void for_all_on(RunDevice& device, const std::function<void(Candidate&)>& step);
  [[nodiscard]] bool anyone_runs() const;

  // What several of them take.
  [[nodiscard]] std::unique_ptr<CheckedSamples> watched(std::unique_ptr<SampleSource> samples);
  /// Results in the order of `cells`; empty ones when the scenario verifies nothing.
  [[nodiscard]] std::vector<SampleChecks> checked(std::span<const CheckedCell> cells);
  /// Whether the workspace is damaged again when each of the candidate's cells is visited alone.
  [[nodiscard]] bool damages_again(Candidate& candidate, std::span<const Cell> cells);
  [[nodiscard]] std::vector<CellTiming> measure(std::span<const SourcedCell> cells,
                                                std::uint64_t stream);
  [[nodiscard]] bool stop_requested() const;
  void tell(const std::string& what) const;

  const Scenario* scenario_;
  const PlannedCase* planned_;
  const Case* case_;  ///< of planned_
  Executor* executor_;
  std::span<RunDevice> devices_;
  const RunHooks* hooks_;
  CaseRecords records_;
  std::vector<Candidate> candidates_;
  std::string fixture_hash_;
  std::uint64_t cells_watched_ = 0;
  TimeAccount spent_;
};

}  // namespace attnbench
