// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"

namespace attnbench {

/// One column of a measured distribution: values at rising quantiles from 0 to 1.
struct QuantileTable {
  std::vector<double> quantiles;
  std::vector<double> values;

  /// Linear interpolation; q in [0, 1].
  [[nodiscard]] double value_at(double q) const;
};

/// Names of the tables in scenarios/lengths, compiled in.
[[nodiscard]] std::vector<std::string> quantile_table_names();

/// `column` is "context_tokens" (also for "") or "generated_tokens". Throws ConfigError on another
/// name.
[[nodiscard]] const QuantileTable& quantile_table(std::string_view name, std::string_view column);

// Shapes of length distributions; lengths count tokens.
struct Uniform {
  std::int64_t lo, hi;  ///< both included
};
struct Lognormal {
  double median;  ///< tokens
  double sigma;   ///< standard deviation of ln(length)
};
/// Power law on 1..max: P(k) is the integral of x^-exponent over [k, k + 1).
struct Zipf {
  double exponent;
  std::int64_t max;
};
/// `high` with probability high_share, else `low`.
struct Bimodal {
  std::int64_t low, high;
  double high_share;
};
/// A measured distribution: linear between the rows of a table in scenarios/lengths.
struct Quantiles {
  std::string table;
  std::string column;  ///< "" takes context_tokens
};

struct LengthDistribution {
  std::variant<Uniform, Lognormal, Zipf, Bimodal, Quantiles> shape;
  // Draws outside are moved to the border.
  std::int64_t min = 1;
  std::int64_t max = std::int64_t{1} << 31;
};

/// `count` independent draws, a function of the seed alone. Uniform numbers come from the counter
/// hash. Where exp or pow is used the result is rounded to whole tokens, so that two C libraries,
/// which differ in the last bit at most, differ in a length about once in 10^12 draws.
[[nodiscard]] std::vector<std::int64_t> draw_lengths(const LengthDistribution& distribution,
                                                     std::int64_t count, std::uint64_t seed);

/// A length as it is written: one number for all requests, one per request, or drawn.
struct LengthSpec {
  Place place;
  std::variant<std::int64_t, std::vector<std::int64_t>, LengthDistribution> form;

  /// How many requests a list describes; nullopt for the other forms.
  [[nodiscard]] std::optional<std::int64_t> list_size() const;
  [[nodiscard]] bool is_drawn() const { return std::holds_alternative<LengthDistribution>(form); }
  /// The lengths of `count` requests; `seed` matters only if they are drawn.
  [[nodiscard]] std::vector<std::int64_t> values(std::int64_t count, std::uint64_t seed) const;
};

/// Reads a length that is `lo` at least; `what` is its key.
[[nodiscard]] std::optional<LengthSpec> read_length(const YamlNode& node, std::string_view what,
                                                    std::int64_t lo, Problems& problems);

}  // namespace attnbench
