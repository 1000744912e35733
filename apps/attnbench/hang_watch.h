// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace attnbench {

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
