// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/ceiling_kernels.h"

#include <array>
#include <cstddef>

namespace attnbench {

std::uint64_t sum_words(std::span<const std::uint64_t> words) {
  // Eight independent sums: one alone would wait for each addition. Unsigned addition may be
  // reordered, so the compiler turns them into vectors.
  std::array<std::uint64_t, 8> sums{};
  const std::size_t whole = words.size() / 8 * 8;
  const std::uint64_t* const data = words.data();
  for (std::size_t i = 0; i < whole; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) sums[j] += data[i + j];
  }
  std::uint64_t sum = 0;
  for (std::size_t i = whole; i < words.size(); ++i) sum += data[i];
  for (const std::uint64_t part : sums) sum += part;
  return sum;
}

}  // namespace attnbench
