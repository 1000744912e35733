// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace attnbench {

/// Sum of all words: one read of the range, as so many `streams` (>= 1), parts of the range that
/// are read in turns, a cache line of each. In a file of its own, because it is compiled with -O3.
[[nodiscard]] std::uint64_t sum_words(std::span<const std::uint64_t> words, std::size_t streams);

}  // namespace attnbench
