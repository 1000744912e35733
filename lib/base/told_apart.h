// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

namespace attnbench {

/// Two numbers as a message prints them: in four digits, or in as many as it takes to differ.
[[nodiscard]] std::pair<std::string, std::string> told_apart(double a, double b);

}  // namespace attnbench
