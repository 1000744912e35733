// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

}  // namespace attnbench
