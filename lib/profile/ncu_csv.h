// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace attnbench {

/// One kernel launch as Nsight Compute measured it.
struct NcuKernel {
  std::string name;
  double dram_read_bytes = 0;
  double dram_write_bytes = 0;
  double time_us = 0;
  double l2_hit_rate = 0;  ///< 0 .. 1
};

/// Reads what `ncu --import REPORT --csv --page raw` prints: a header line, a line of units, a line
/// per launch; lines before the header ("==PROF==") are skipped. Throws ConfigError naming the file
/// and the metric that is missing, EnvironmentError when the file cannot be read.
[[nodiscard]] std::vector<NcuKernel> read_ncu_csv(const std::string& path);

}  // namespace attnbench
