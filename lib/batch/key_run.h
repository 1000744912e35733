// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench {

/// Positions [begin, end) among the keys of a request.
struct KeyRun {
  std::int64_t begin = 0, end = 0;

  [[nodiscard]] std::int64_t size() const { return end - begin; }
  [[nodiscard]] bool holds(std::int64_t key) const { return key >= begin && key < end; }
  friend bool operator==(const KeyRun&, const KeyRun&) = default;
};

}  // namespace attnbench
