// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace attnbench {

/// A part of a run's cases: those whose place in the list, counted from 0, is index - 1 modulo
/// count. So equal command lines give equal parts, and neighbours of a sweep, whose costs are
/// similar, go to different parts.
struct Shard {
  std::size_t index = 1, count = 1;

  /// "2/4". Throws ConfigError for anything but 1 <= index <= count.
  [[nodiscard]] static Shard parse(const std::string& text);

  [[nodiscard]] bool holds(std::size_t place) const { return place % count == index - 1; }
};

}  // namespace attnbench
