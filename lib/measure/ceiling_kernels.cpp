// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/measure/ceiling_kernels.h"

#include <array>
#include <cstddef>

namespace attnbench {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t kVectorBytes = 64;
#elif defined(__AVX__)
constexpr std::size_t kVectorBytes = 32;
#else
constexpr std::size_t kVectorBytes = 16;
#endif
constexpr std::size_t kLanes = kVectorBytes / sizeof(float);
typedef float Vector __attribute__((vector_size(kVectorBytes)));

/// Latency 4 times 2 units needs 8 chains in flight; 10 leave slack and fit 16 registers.
constexpr std::size_t kChains = 10;

}  // namespace

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

float multiply_add_chains(std::int64_t steps) {
  Vector chains[kChains];
  // Starts that the compiler cannot know: it would drop a chain that starts at its fixed point.
  const float start = static_cast<float>(steps % 8) + 2.0f;
  for (std::size_t c = 0; c < kChains; ++c) chains[c] = Vector{} + (start + static_cast<float>(c));
  // x = x m + a has the fixed point a / (1 - m) = 1: no overflow, no slow denormals.
  const Vector m = Vector{} + 0.999f;
  const Vector a = Vector{} + 0.001f;
  for (std::int64_t i = 0; i < steps; ++i) {
    for (std::size_t c = 0; c < kChains; ++c) chains[c] = chains[c] * m + a;
  }
  float sum = 0;
  for (std::size_t c = 0; c < kChains; ++c) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) sum += chains[c][lane];
  }
  return sum;
}

std::int64_t flop_per_step() { return static_cast<std::int64_t>(2 * kChains * kLanes); }

}  // namespace attnbench
