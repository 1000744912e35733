// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "lib/gate/gate_text.h"
#include "lib/result/record.h"
#include "lib/result/record_fields.h"

namespace attnbench {

/// The field of that column. Throws ConfigError naming the nearest where there is none, or where it
/// is no measured number: counts and words belong to the case.
[[nodiscard]] const RecordField& metric_field(const std::string& column);

/// One result file.
struct ResultFile {
  std::string path;
  RunResult run;
};

struct WatchOptions {
  std::string metric = "median_us";
  std::vector<std::string> cases{}, backends{};  ///< globs; empty: all
};

/// A run as a report names it.
struct WatchedRun {
  std::string path, commit, started_utc;
};

/// One run of a series.
struct WatchedPoint {
  std::size_t run = 0;  ///< index into WatchReport::runs
  std::optional<double> value{};
  std::string gap{};    ///< why there is no value: "INCORRECT: 3 NaN", "not in this file"
  bool failed = false;  ///< the gap is a wrong or crashed result
};

/// From a run on, the series is at another level.
struct WatchedChange {
  std::size_t point = 0;         ///< of the series, the first of the new level
  double before = 0, after = 0;  ///< medians from the change before to the next one
};

/// A cell over the runs that were measured under the same conditions.
struct WatchedSeries {
  CellKey cell;
  std::string apart{};  ///< by which conditions it differs from the cell's series before; or empty
  std::vector<WatchedPoint> points;
  double noise = 0;  ///< of a single run, part of the value (noise_of)
  std::vector<WatchedChange> changes{};
};

struct WatchReport {
  const RecordField* metric = nullptr;
  std::vector<WatchedRun> runs;  ///< the oldest first
  std::vector<WatchedSeries> series;
};

/// Follows a metric of each cell over runs, which are put in the order of their start. Runs that
/// differences_of() tells apart make series of their own. A value counts by its logarithm, so one
/// that is not above 0 is a gap, as is a cell that failed, did not run, or is not in a file that
/// ran its scenario. Throws ConfigError where a pattern matches nothing, naming the nearest, and
/// where there is nothing at all.
[[nodiscard]] WatchReport watch_runs(std::vector<ResultFile> files, const WatchOptions& options);

/// A table of all series with their changes and gaps, and a plot of each that changed.
void write_watch_terminal(const WatchReport& report, const TextOptions& options, std::ostream& out);
/// The same for machines, every value with it.
void write_watch_json(const WatchReport& report, std::ostream& out);

}  // namespace attnbench
