// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/ceilings.h"

#include <array>
#include <cstddef>

namespace attnbench {

std::uint64_t sum_words(std::span<const std::uint64_t> words, std::size_t streams) {
  // Eight independent sums: one alone would wait for each addition. Unsigned addition may be
  // reordered, so the compiler turns them into vectors.
  constexpr std::size_t kLine = 8;
  std::array<std::uint64_t, kLine> sums{};
  const std::size_t part = words.size() / streams / kLine * kLine;
  const std::uint64_t* const data = words.data();
  for (std::size_t i = 0; i < part; i += kLine) {
    for (std::size_t stream = 0; stream < streams; ++stream) {
      const std::uint64_t* const line = data + stream * part + i;
      for (std::size_t j = 0; j < kLine; ++j) sums[j] += line[j];
    }
  }
  std::uint64_t sum = 0;
  for (std::size_t i = part * streams; i < words.size(); ++i) sum += data[i];
  for (const std::uint64_t each : sums) sum += each;
  return sum;
}

}  // namespace attnbench
