// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace attnbench {

/// What the process tells its caller. One table for --help, the README and the tests.
/// A run cut short by signal n ends with 128 + n.
enum class ExitCode : int {
  kOk = 0,
  kRegression = 1,
  kIncorrect = 2,  ///< dominates every other outcome of a finished run
  kInconclusive = 3,
  kUsage = 4,  ///< command line, scenario or configuration; also: nothing matched
  kEnvironment = 5,
  kInternal = 70,
};

}  // namespace attnbench
