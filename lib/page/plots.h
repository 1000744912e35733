// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lib/page/svg_plot.h"
#include "lib/result/merge_runs.h"

namespace attnbench {

// The page's plots, each alone, of all cells that claim a speed. Both throw ConfigError where no
// cell has a place on them.

/// Operations a byte against operations a second, under the ceilings of each device.
[[nodiscard]] SvgPlot roofline_plot(const std::vector<NamedRun>& files);

/// Median time over the mean number of keys of a request, in the mode that most cells have; the
/// cells of a workload are joined, and several workloads of a backend told apart by their dashes
/// and numbers.
[[nodiscard]] SvgPlot latency_plot(const std::vector<NamedRun>& files);

}  // namespace attnbench
