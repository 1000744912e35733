// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/length_distribution.h"

#include <algorithm>
#include <cmath>

#include "lib/base/counter_hash.h"
#include "lib/scenario/quantile_table.h"

namespace attnbench {
namespace {

/// Uniform in (0, 1): the middle of one of 2^32 equal cells, so neither end is ever met.
double open_unit(std::uint32_t bits) { return (static_cast<double>(bits) + 0.5) * 0x1p-32; }

/// One draw; `key` is all its randomness.
struct Draw {
  std::uint64_t key;

  [[nodiscard]] double unit() const { return open_unit(element_bits(key, 0)); }

  std::int64_t operator()(const Uniform& shape) const {
    const auto choices = static_cast<std::uint64_t>(shape.hi - shape.lo) + 1;
    // The high half of a product spreads 32 bits over the choices without a division.
    return shape.lo + static_cast<std::int64_t>((element_bits(key, 0) * choices) >> 32);
  }
  std::int64_t operator()(const Lognormal& shape) const {
    const double z = static_cast<double>(normal_element(key, 0));
    return std::llround(shape.median * std::exp(shape.sigma * z));
  }
  std::int64_t operator()(const Zipf& shape) const {
    // Inverse of the distribution function of x^-s on [1, max + 1).
    const double end = static_cast<double>(shape.max) + 1;
    const double power = 1 - shape.exponent;
    const double x = std::fabs(power) < 1e-9
                         ? std::pow(end, unit())
                         : std::pow(1 + unit() * (std::pow(end, power) - 1), 1 / power);
    return std::min(static_cast<std::int64_t>(x), shape.max);
  }
  std::int64_t operator()(const Bimodal& shape) const {
    return unit() < shape.high_share ? shape.high : shape.low;
  }
  std::int64_t operator()(const Quantiles& shape) const {
    return std::llround(quantile_table(shape.table, shape.column).value_at(unit()));
  }
};

}  // namespace

std::vector<std::int64_t> draw_lengths(const LengthDistribution& distribution, std::int64_t count,
                                       std::uint64_t seed) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const Draw draw{combine(seed, static_cast<std::uint64_t>(i))};
    lengths.push_back(
        std::clamp(std::visit(draw, distribution.shape), distribution.min, distribution.max));
  }
  return lengths;
}

}  // namespace attnbench
