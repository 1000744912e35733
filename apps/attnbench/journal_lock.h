// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

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

}  // namespace attnbench
