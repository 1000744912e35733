// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace attnbench {

class ProcessFamily;

/// A child process that runs this same program, or the one that `words` begin with. Started anew
/// rather than forked: neither CUDA nor OpenMP's threads survive a fork. It has its own process
/// group, so that only the parent handles Ctrl-C, and processes that a backend has started are
/// killed with it; a ProcessFamily ends those, too, that have left the group. Its standard output
/// is our standard error unless said otherwise: results stay clean of what backends print.
class ChildProcess {
 public:
  static constexpr const char* kThisProgram = "attnbench";

  /// The first of `words` is a program, looked for on PATH, or kThisProgram. `descriptor` becomes
  /// kWorkerDescriptor in the child. What the child prints, errors too, goes to `output`. `family`,
  /// which may be null, outlives it. Throws EnvironmentError.
  ChildProcess(std::vector<std::string> words, int descriptor, ProcessFamily* family = nullptr,
               int output = STDERR_FILENO);
  /// Kills it, unless end() was called.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;  // one process, one owner
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Whether it ended by itself; end() then tells how.
  [[nodiscard]] bool has_ended() const noexcept;
  /// Waits for its end: "exited with code 3", "was killed by signal 11 (SIGSEGV)". After `patience`
  /// kills it: nullopt.
  [[nodiscard]] std::optional<std::string> end(std::chrono::milliseconds patience) noexcept;

 private:
  ProcessFamily* family_;
  pid_t pid_ = -1;  ///< -1: ended and reaped
};

}  // namespace attnbench
