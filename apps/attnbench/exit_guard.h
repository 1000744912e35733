// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>

namespace attnbench {

/// While it lives, neither exit() nor _exit() ends this process with the code that a plug-in chose:
/// the last words of the youngest guard are said, then it ends with ExitCode::kIncorrect. A system
/// call cannot be caught. A process that was forked meanwhile ends as it likes.
class ExitGuard {
 public:
  explicit ExitGuard(std::function<void()> last_words);
  ~ExitGuard();
  /// Objects that were made since would be destroyed before the last words: they would be of no
  /// use to them. To be called now and then.
  void renew();
  ExitGuard(const ExitGuard&) = delete;  // one guard, one place in the order
  ExitGuard& operator=(const ExitGuard&) = delete;

  /// Ends this process, unless it has no guard.
  static void leave_by_guard();

 private:
  ExitGuard* older_;
  pid_t process_;
  std::function<void()> last_words_;
};

/// _exit() past every guard.
[[noreturn]] void end_process(int code);

}  // namespace attnbench
