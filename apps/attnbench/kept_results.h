// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "apps/attnbench/journal_lock.h"
#include "apps/attnbench/output_files.h"
#include "apps/attnbench/resumed_run.h"
#include "lib/backend/registry.h"
#include "lib/result/cell_key.h"
#include "lib/result/journal.h"
#include "lib/result/record.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// What a run has measured so far, in a journal beside its JSON ("r.json.partial") or, without one,
/// its first file, and what an earlier one had measured that it goes on with (--resume).
class KeptResults {
 public:
  /// `resumed` is the run of --resume. Throws ConfigError for a journal that another run is
  /// writing, for one that an earlier run has left and nobody asked to go on with, and for a file
  /// that is no results.
  KeptResults(const std::vector<OutputFile>& outputs, const std::optional<ResumedRun>& resumed);
  ~KeptResults();
  KeptResults(const KeptResults&) = delete;
  KeptResults& operator=(const KeptResults&) = delete;

  /// Before the first case of a scenario. Throws EnvironmentError where the earlier run is of
  /// another machine, binary, scenario, config.json of a model, or build of a plug-in.
  void start(const RunResult& header);

  /// Records of a case that an earlier run has finished, for these backends; none if it has not.
  [[nodiscard]] std::vector<Record> finished(
      const Scenario& scenario, const Case& c,
      std::span<const Registry::Entry* const> backends) const;

  /// A disk that is full ends the journal with a line on `err`, not the run.
  void add(const Record& record, std::ostream& err);

  /// Joins what the earlier run has measured of cells that this one did not ask for.
  void add_rest(RunResult& result) const;

  /// The results are in their files: the journal goes.
  void drop();

 private:
  std::string journal_path_;  ///< empty: no file is to be written
  std::optional<JournalLock> lock_;
  std::vector<JournalFile> files_;  ///< that this run writes
  std::string resumed_;             ///< the file of --resume
  RunResult earlier_;
  std::map<std::string, std::vector<const Record*>> by_case_;  ///< of earlier_, by the case's id
  std::set<CellKey> in_earlier_;  ///< cells that the journal or the file of --resume holds
  std::optional<Journal> journal_;
  bool gave_up_ = false;
};

}  // namespace attnbench
