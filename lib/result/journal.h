// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iosfwd>
#include <string>
#include <vector>

#include "lib/result/record.h"
#include "lib/view/json.h"

namespace attnbench {

/// A file that a run is to write, and the option that asked for it: "--json".
struct JournalFile {
  std::string option, path;
};

/// A run's results while it goes on, so that whatever ends it loses nothing that was measured. JSON
/// Lines, each handed to the system at once: {"run": …} at the start of a scenario (run_json()),
/// {"record": …} for each cell.
class Journal {
 public:
  /// Goes on behind what the file holds. Throws EnvironmentError when it cannot be written.
  explicit Journal(const std::string& path);

  // Each throws EnvironmentError when the line could not be written.
  /// `files`: whole paths of what the run writes when it ends.
  void start(const RunResult& header, const std::vector<JournalFile>& files = {});
  void add(const Record& record);

 private:
  void write_line(const char* kind, Json json);

  std::string path_;
  std::ofstream file_;
};

/// Whether the file begins as a journal does; reads on from its beginning afterwards.
[[nodiscard]] bool is_journal(std::istream& file);

/// The files that the journal's run writes when it ends; none where it is no journal, cannot be
/// read, or is older than their list.
[[nodiscard]] std::vector<JournalFile> files_of_journal(const std::string& path);

/// A line that was cut off is left out: the last one, or the last before a run went on. `path` is
/// for messages. Throws ConfigError with the line.
[[nodiscard]] RunResult read_journal(const std::string& path, std::istream& file);

}  // namespace attnbench
