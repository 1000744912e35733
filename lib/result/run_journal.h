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

#include "lib/backend/registry.h"
#include "lib/result/journal.h"
#include "lib/result/record.h"
#include "lib/result/sinks.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// Keeps a journal for one run: a second one that writes the same results would mix with it. The
/// system lets go of it however the run ends.
class JournalLock {
 public:
  /// Makes the file where there is none. Throws ConfigError where another run has it. A file system
  /// without locks has none.
  explicit JournalLock(const std::string& path);
  ~JournalLock();
  JournalLock(const JournalLock&) = delete;
  JournalLock& operator=(const JournalLock&) = delete;

 private:
  int file_ = -1;
};

/// A run that --resume goes on with.
struct ResumedRun {
  std::string asked;               ///< the file that --resume names
  std::string results;             ///< its JSON, which may not be there; empty: it writes none
  std::string journal;             ///< which may not be there either
  std::vector<JournalFile> files;  ///< that it writes, and so does the run that goes on
};

/// "r.json.partial", beside the file that the path leads to.
[[nodiscard]] std::string journal_of(const std::string& path);

/// By any of its files: the JSON, its journal beside it, or another format, which the journal names
/// or which has the JSON's name but for the ending. Throws ConfigError where there is none.
[[nodiscard]] ResumedRun find_resumed(const std::string& asked);

/// What a run has measured so far, in a journal beside its JSON ("r.json.partial") or, without one,
/// its first file, and what an earlier one had measured that it goes on with (--resume).
class RunJournal {
 public:
  /// `resumed` is the run of --resume. Throws ConfigError for a journal that another run is
  /// writing, for one that an earlier run has left and nobody asked to go on with, and for a file
  /// that is no results.
  RunJournal(const std::vector<OutputFile>& outputs, const std::optional<ResumedRun>& resumed);
  ~RunJournal();
  RunJournal(const RunJournal&) = delete;
  RunJournal& operator=(const RunJournal&) = delete;

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
