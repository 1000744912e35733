// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace attnbench {

/// What a child process printed, both of its streams together, and how it ended.
struct ChildOutput {
  std::string text;  ///< of very much only the last part
  std::string end;   ///< "exited with code 3", "gave no answer within 60 s", "was stopped"

  [[nodiscard]] bool is_well() const { return end == "exited with code 0"; }
  /// Without the line's end.
  [[nodiscard]] std::string last_line() const;
};

/// Runs a program as ChildProcess does until it ends, which after `limit` it is made to; and what
/// it has started with it. So does `stop_requested`, which may be empty. Throws EnvironmentError
/// where it cannot be started.
[[nodiscard]] ChildOutput output_of_child(std::vector<std::string> words,
                                          std::chrono::milliseconds limit,
                                          const std::function<bool()>& stop_requested = {});

/// How long a file of backends may take to say which it holds.
struct Describing {
  /// Enough even where importing it means PyTorch from a slow disk.
  std::chrono::duration<double> limit = std::chrono::seconds(120);
  std::chrono::duration<double> patience = std::chrono::seconds(5);
  /// Told once, when the patience is over, what is being waited for; may be empty.
  std::function<void(const std::string& note)> waiting{};
  /// Words in front of the command line of each process that has its code; the program that they
  /// name becomes the one that follows. Empty: none.
  std::vector<std::string> confined_by{};

  [[nodiscard]] std::vector<std::string> confined(std::vector<std::string> words) const {
    words.insert(words.begin(), confined_by.begin(), confined_by.end());
    return words;
  }
};

/// What a process prints that says which backends `file` holds. Throws as output_of_child() does.
[[nodiscard]] ChildOutput output_of_description(std::vector<std::string> words,
                                                const std::string& file,
                                                const Describing& describing);

/// Hands on what a child prints, up to a limit: a backend that prints in each run must not fill a
/// log. The rest is dropped, with a line that says so.
class CappedOutput {
 public:
  /// A thousand screens of text.
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  /// `name` is the child's, for that line. Throws EnvironmentError.
  explicit CappedOutput(std::string name, int to = STDERR_FILENO, std::size_t most = kMost);
  /// What has been printed until now is handed on.
  ~CappedOutput();
  CappedOutput(const CappedOutput&) = delete;  // one pipe, one owner
  CappedOutput& operator=(const CappedOutput&) = delete;

  /// What the child is to print to.
  [[nodiscard]] int entrance() const { return entrance_; }
  /// Once the child has it: its end then ends the stream.
  void close_entrance() noexcept;

 private:
  void hand_on(std::string name, int to, std::size_t most) const;

  int exit_ = -1, entrance_ = -1, stop_ = -1;
  std::thread thread_;  ///< sleeps while nothing is printed
};

}  // namespace attnbench
