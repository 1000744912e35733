// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace attnbench {

/// What a child process printed, both of its streams together, and how it ended.
struct ChildOutput {
  std::string text;  ///< of very much only the last part
  std::string end;   ///< "exited with code 3", "gave no answer within 60 s"

  [[nodiscard]] bool is_well() const { return end == "exited with code 0"; }
  /// Without the line's end.
  [[nodiscard]] std::string last_line() const;
};

/// Runs a program as ChildProcess does until it ends, which after `limit` it is made to; and what
/// it has started with it. Throws EnvironmentError where it cannot be started.
[[nodiscard]] ChildOutput output_of_child(std::vector<std::string> words,
                                          std::chrono::milliseconds limit);

/// A file of backends is imported within this time even where that means PyTorch from a slow disk.
inline constexpr std::chrono::seconds kToDescribe{120};

}  // namespace attnbench
