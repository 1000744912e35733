// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/result/journal.h"

namespace attnbench {

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

}  // namespace attnbench
