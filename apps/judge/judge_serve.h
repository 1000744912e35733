// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <istream>
#include <string>
#include <vector>

#include "apps/attnbench/command.h"

namespace attnbench {

/// How `judge --serve` starts the process that judges one candidate.
struct JudgeProcess {
  std::vector<std::string> options;  ///< of all candidates, as they stand on a command line
  std::chrono::milliseconds limit;   ///< then it is killed, with all that it has started
};

/// Reads a line of JSON for each candidate, {"candidate": FILE, "scenario": FILE}, and where wanted
/// "against", "backend" and an "id" of any type; writes a line of JSON for each, in their order:
/// what `judge --json -` prints, with the id and the seconds that it took, or an "error". Each is
/// judged in a process of its own. Returns at the end of `in`.
void serve_judgements(const JudgeProcess& process, std::istream& in, Console& console);

}  // namespace attnbench
