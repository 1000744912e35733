// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace attnbench {

/// While it lives, exit() does not end this process with the code that a plug-in chose: the last
/// words of the youngest guard are said, then it ends with ExitCode::kIncorrect. _exit() cannot be
/// caught.
class ExitGuard {
 public:
  explicit ExitGuard(std::function<void()> last_words);
  ~ExitGuard();
  /// Objects that were made since would be destroyed before the last words: they would be of no
  /// use to them. To be called now and then.
  void renew();
  ExitGuard(const ExitGuard&) = delete;  // one guard, one place in the order
  ExitGuard& operator=(const ExitGuard&) = delete;

 private:
  static void at_exit();

  ExitGuard* older_;
  std::function<void()> last_words_;
};

}  // namespace attnbench
