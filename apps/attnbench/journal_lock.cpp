// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/journal_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "lib/base/error.h"

namespace attnbench {
namespace {

/// Whether `file` is what the path names now: the run that had it before removes it at its end.
bool is_file_at(const std::string& path, int file) {
  struct stat open_one {
  }, named{};
  return fstat(file, &open_one) == 0 && stat(path.c_str(), &named) == 0 &&
         open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev;
}

}  // namespace

JournalLock::JournalLock(const std::string& path) {
  constexpr mode_t kMode = 0666;  // less the umask, as of any file
  while (true) {
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
    if (file_ < 0) return;  // the journal itself says why it cannot be written
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const bool is_held = errno == EWOULDBLOCK;
      close(file_);
      file_ = -1;
      if (!is_held) return;
      throw ConfigError(
          fmt::format("{} belongs to a run that still goes on\n"
                      "   two runs cannot write the same results: give this one another file",
                      path));
    }
    if (is_file_at(path, file_)) return;
    close(file_);
  }
}

JournalLock::~JournalLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace attnbench
