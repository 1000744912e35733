// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench {

/// What a random number is for: numbers of different roles never come from the same counter.
enum class Role : std::uint32_t {
  kQ = 1,
  kK = 2,
  kV = 3,
  kSink = 4,
  kNeedle = 5,
  kExtreme = 6,
  kGate = 7,
  kBeta = 8,
  kState = 9,
  kKScale = 10,
  kVScale = 11,
  kQScale = 12,
  kIndexScore = 13,
  kIndexQuery = 14,
  kIndexWeight = 15,
  kIndexKey = 16
};

/// Bijective 64-bit mixer: splitmix64's finaliser (Steele, Lea, Flood, OOPSLA 2014).
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Folds `value` into `state`; the odd constant is 2^64 / golden ratio.
[[nodiscard]] constexpr std::uint64_t combine(std::uint64_t state, std::uint64_t value) {
  return mix64(state + 0x9e3779b97f4a7c15u + value);
}

/// Key of one row (one token of one head) of a tensor. The same integers on every machine and
/// device.
[[nodiscard]] constexpr std::uint64_t row_key(std::uint64_t seed, Role role, std::uint64_t stream,
                                              std::int64_t position, std::int64_t head) {
  std::uint64_t key = combine(seed, static_cast<std::uint64_t>(role));
  key = combine(key, stream);
  key = combine(key, static_cast<std::uint64_t>(position));
  return combine(key, static_cast<std::uint64_t>(head));
}

/// 32 uniform bits of element `dim` of a row. Only 32-bit operations, so loops over `dim`
/// vectorise; the finaliser is Wellons' lowbias32 (bias 0.17 over all inputs), entered twice with
/// both key halves.
[[nodiscard]] constexpr std::uint32_t element_bits(std::uint64_t key, std::uint32_t dim) {
  std::uint32_t x = static_cast<std::uint32_t>(key) + dim * 0x9e3779b9u;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  x ^= (x >> 16) ^ static_cast<std::uint32_t>(key >> 32);
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

/// Nearly normal, mean 0, variance 1, |value| <= 3.46: the centred sum of four uniform integers
/// (Irwin-Hall). All integers up to the one final product, so the result is bit-identical
/// everywhere. Eleven bits per addend out of 2 x 22 bits keep 8189 distinct values, finer than bf16
/// at 1.0.
[[nodiscard]] constexpr float normal_element(std::uint64_t key, std::uint32_t dim) {
  const std::uint32_t a = element_bits(key, 2 * dim);
  const std::uint32_t b = element_bits(key, 2 * dim + 1);
  const std::uint32_t sum =
      (a & 0x7ffu) + ((a >> 11) & 0x7ffu) + (b & 0x7ffu) + ((b >> 11) & 0x7ffu);
  constexpr float kScale = 1.0f / 1182.41275f;  // standard deviation: sqrt(4 (2048^2 - 1) / 12)
  return static_cast<float>(static_cast<std::int32_t>(sum) - 4094) * kScale;
}

}  // namespace attnbench
