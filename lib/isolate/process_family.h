// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <set>

namespace attnbench {

/// The children of this process. From its construction on, this process adopts what its children
/// leave behind (PR_SET_CHILD_SUBREAPER), also what has a session of its own, so that nothing that
/// a backend has started outlives that backend.
class ProcessFamily {
 public:
  ProcessFamily();
  /// Ends every child that is not a member.
  ~ProcessFamily() { end_orphans(); }
  ProcessFamily(const ProcessFamily&) = delete;  // one process, one family
  ProcessFamily& operator=(const ProcessFamily&) = delete;

  void join(pid_t child) { members_.insert(child); }
  /// For a member that has ended: ends what it has left behind.
  void leave(pid_t child) noexcept;

 private:
  /// Kills and reaps every child that has not joined and was not there before this object.
  void end_orphans() const noexcept;

  std::set<pid_t> earlier_;  ///< children that a shell left to this process when it became it
  std::set<pid_t> members_;
};

}  // namespace attnbench
