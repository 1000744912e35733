// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace attnbench {

/// First and last entries of an index array.
struct AbridgedArray {
  std::string name;
  std::int64_t size = 0;
  std::vector<std::int64_t> head, tail;  ///< tail is empty when head is everything
};

/// Entries that are shown of each end of what is longer than both.
inline constexpr std::size_t kShownEntries = 4;

/// Of a vector or a span.
template <class Values>
[[nodiscard]] AbridgedArray abridged(std::string name, const Values& values) {
  const bool whole = values.size() <= 2 * kShownEntries;
  const auto head_end = whole ? values.end() : values.begin() + kShownEntries;
  const auto tail_begin = whole ? values.end() : values.end() - kShownEntries;
  return {std::move(name),
          static_cast<std::int64_t>(values.size()),
          {values.begin(), head_end},
          {tail_begin, values.end()}};
}

}  // namespace attnbench
