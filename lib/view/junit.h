// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace attnbench {

/// One testcase of a JUnit report. Texts are as they are; the writer escapes them.
struct JunitCase {
  /// JUnit tells an error from a wrong answer, which is a failure.
  enum class Outcome : std::uint8_t { kPassed, kSkipped, kFailure, kError };

  std::string class_name, name;
  Outcome outcome = Outcome::kPassed;
  std::string word, reason;  ///< unless it passed: a verdict and why
  std::string details{};     ///< of a failure or an error
  std::optional<double> seconds{};
};

struct JunitSuite {
  std::string name;
  std::string timestamp{};  ///< ISO 8601; empty: none
  std::optional<double> seconds{};
  std::vector<JunitCase> cases;
};

void write_junit_suite(const JunitSuite& suite, std::ostream& out);

}  // namespace attnbench
