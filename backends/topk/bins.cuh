// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/topk/scores.cuh"

// How a pass sorts ordered scores into bins: bin_of(score), and the scores from lowest_of(bin) to
// just below lowest_of(bin + 1).
namespace attnbench::topk {

/// Scores that are in the list are above `high`, or `wanted` of those from `low` to `high`.
struct Cut {
  std::uint32_t low, high;
  int wanted;

  [[nodiscard]] __device__ bool is_above(std::uint32_t score) const { return score > high; }
  [[nodiscard]] __device__ bool is_at(std::uint32_t score) const {
    return score - low <= high - low;
  }
};

/// 64 bins an octave from 2^-15 to 2^17, of either sign, for a row of which nothing is known. More
/// bits of a narrower range than a float's highest bits have: threads that count scores in the same
/// bin wait for each other, and the bin in which the list ends has few.
struct OctaveBins {
  static constexpr int kBins = 4096;

  [[nodiscard]] __device__ int bin_of(std::uint32_t score) const {
    const std::uint32_t of_negative = min(max(score, kNegative), kNegative + kSpan) - kNegative;
    const std::uint32_t of_positive = min(max(score, kPositive), kPositive + kSpan - 1) - kPositive;
    return static_cast<int>((of_negative + of_positive) >> kShift);
  }
  /// What is nearer to zero is in the lowest bin of the positive scores.
  [[nodiscard]] __device__ std::uint32_t lowest_of(int bin) const {
    if (bin == 0) return kAbsent + 1;
    if (bin == kBins) return 0;  // 2^32
    const std::uint32_t offset = static_cast<std::uint32_t>(bin) << kShift;
    return offset <= kSpan ? kNegative + offset : kPositive - kSpan + offset;
  }

 private:
  static constexpr int kShift = 23 - 6;
  static constexpr std::uint32_t kSpan = 32u << 23;                          // as ordered scores
  static constexpr std::uint32_t kNegative = 0x7fffffff - (144u << 23) + 1;  // from -2^17
  static constexpr std::uint32_t kPositive = 0x80000000 + (112u << 23);      // from 2^-15
  static_assert(std::uint32_t{kBins} << kShift == 2 * kSpan);
};

/// That a number takes.
__device__ inline int bits_of(std::uint32_t number) { return 32 - __clz(static_cast<int>(number)); }

/// Bins of as many scores each, of those at a cut.
template <int kBits>
struct EvenBins {
  static constexpr int kBins = 1 << kBits;

  std::uint32_t low;
  int shift;

  __device__ explicit EvenBins(const Cut& cut)
      : low(cut.low), shift(max(bits_of(cut.high - cut.low) - kBits, 0)) {}
  [[nodiscard]] __device__ int bin_of(std::uint32_t score) const {
    return static_cast<int>((score - low) >> shift);
  }
  [[nodiscard]] __device__ std::uint32_t lowest_of(int bin) const {
    return low + (static_cast<std::uint32_t>(bin) << shift);
  }
};

}  // namespace attnbench::topk
