// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attnbench {

/// A Python interpreter, with the packages that are installed for it.
struct PythonEnvironment {
  std::string name;    ///< "v33"; empty: it has none
  std::string python;  ///< the interpreter: a whole path, or a name on PATH; empty: none is needed

  bool operator==(const PythonEnvironment&) const = default;
};

/// NAME=PROGRAM, or PROGRAM without a name. Throws ConfigError where the name is none.
[[nodiscard]] PythonEnvironment python_environment(const std::string& word);
/// The inverse.
[[nodiscard]] std::string to_string(const PythonEnvironment& environment);

/// Throws ConfigError where names cannot tell them apart.
void expect_distinct(std::span<const PythonEnvironment> environments);

/// How a backend that several environments have is called in this one: "v33/vllm:fa3".
[[nodiscard]] std::string name_in(const PythonEnvironment& environment, std::string_view backend);
/// And what the environment itself calls it, "vllm:fa3"; of a pair, both parts. Other names stay.
[[nodiscard]] std::string without_environment(std::string_view backend);

}  // namespace attnbench
