// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace attnbench {

/// How a report for people may look.
struct TextOptions {
  bool colour = false;      ///< escape sequences
  std::size_t width = 100;  ///< of a line
};

}  // namespace attnbench
