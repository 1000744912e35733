// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace attnbench {

/// The first argument of a program that is to enter a sandbox and become another program.
constexpr const char* kConfinedCommand = "confined";

/// A part of the sandbox that this system does not have.
struct MissingPart {
  std::string text;        ///< "no limit on writes: the kernel has no Landlock"
  bool essential = false;  ///< a hostile program is not held without it
};

/// For the process that starts such a program, to ask beforehand: a line of text, and back. The
/// latter throws EnvironmentError where the text is none.
[[nodiscard]] std::string missing_parts_text(const std::vector<MissingPart>& missing);
[[nodiscard]] std::vector<MissingPart> missing_parts_in(const std::string& text);

/// A sandbox for the processes of one candidate.
class CandidateSandbox {
 public:
  /// Asks the system, in a process of its own, what it has. `scratch` is a folder for the
  /// candidate. Throws EnvironmentError.
  explicit CandidateSandbox(std::string scratch);

  /// The words before the command line of a program that is to run in it.
  [[nodiscard]] std::vector<std::string> words() const;
  [[nodiscard]] const std::vector<MissingPart>& missing() const { return missing_; }

 private:
  std::string scratch_;
  std::vector<MissingPart> missing_;
};

/// Confines this process, and all that it starts, for good. It keeps reading, computing, its
/// standard streams, its GPU and threads of its own. It writes only below `scratch`; has no power
/// over other processes, no network, no way to new privileges; and limits on memory, files, core
/// files and, unless it is the superuser's, processes. To be called before it has a second thread.
/// Returns what is missing.
std::vector<MissingPart> enter_sandbox(const std::string& scratch);

/// Folders that libraries write to are below `scratch` from now on.
void move_caches_to(const std::string& scratch);

/// Keeps processes without power over others out of the memory of this one (/proc/PID/mem, ptrace)
/// and of its open files (/proc/PID/fd). It leaves no core file from then on.
void close_memory_to_others() noexcept;

// Its parts. Each returns why it is missing; empty: it is there.

/// What Landlock has done.
struct FileRules {
  std::string missing;
  bool signals_end_here = false;  ///< no signal leaves the sandbox
};
/// Writes only below `scratch` and to devices that compute.
[[nodiscard]] FileRules limit_writes(const std::string& scratch);
/// Refuses system calls that reach beyond this process. With `signals_too` they may go to this
/// process only, not to its children.
[[nodiscard]] std::string limit_calls(bool signals_too);

}  // namespace attnbench
