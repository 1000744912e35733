// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <streambuf>
#include <string>
#include <thread>

#include "apps/attnbench/command.h"
#include "lib/isolate/process_family.h"

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

/// For a command with plug-ins in its own process, as long as it lives: what they print goes to
/// standard error, so that results stay clean; exit() says who ended the process; and processes
/// that they have started end with it.
class InProcess {
 public:
  explicit InProcess(Console& console);
  ~InProcess();
  InProcess(const InProcess&) = delete;  // one process, one owner of its streams
  InProcess& operator=(const InProcess&) = delete;

 private:
  Console* console_;
  int standard_output_;  ///< as it was
  std::unique_ptr<std::streambuf> to_standard_output_;
  std::streambuf* replaced_ = nullptr;
  ProcessFamily family_;
  ExitGuard guard_;
};

/// Watches a run whose plug-ins are in this process, where nothing can interrupt them. Says so when
/// a step takes long; and where the run does not end though it was asked to, ends the process.
class HangWatch {
 public:
  struct Options {
    std::function<void(const std::string&)> note;
    std::function<int()> signal;               ///< that asked for an end; 0: none has
    std::function<void(int signal)> end;       ///< the process; it does not return in earnest
    std::chrono::milliseconds notice{60'000};  ///< a person begins to wonder
    std::chrono::milliseconds patience{3000};  ///< from the signal on
  };

  explicit HangWatch(Options options);
  ~HangWatch();
  HangWatch(const HangWatch&) = delete;  // one thread, one owner
  HangWatch& operator=(const HangWatch&) = delete;

  /// "mine · verifying" begins.
  void step(std::string what);

 private:
  void watch();

  Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false, noted_ = false;
  std::string step_ = "starting";
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::thread thread_;
};

}  // namespace attnbench
