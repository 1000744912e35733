// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/result/record.h"

namespace attnbench {

/// One record for a cell that several processes measured. Equal processes differ by more than the
/// interval of any one of them says (results/gate/README.md), so the process is the unit of
/// replication here: each block is the median of one process, the median is theirs, and lo and hi
/// are the 95 % order-statistic interval of that median, which takes six processes. It is converged
/// when half of that interval is within `precision` of the median, else noisy.
///
/// Figures of samples (quartiles, clock, enqueueing, planning) are the medians of the processes',
/// counts are sums. Errors are those of the process with the largest one. A wrong or crashed
/// process dominates: its record stands for all; and so does the first process's where none was
/// timed. Throws InternalError when there is no record.
[[nodiscard]] Record pooled_record(std::span<const Record> processes, double precision);

/// A run with the file that it was read from, which messages name.
struct NamedRun {
  std::string path;
  RunResult run;
};

enum class DuplicateWinner : std::uint8_t { kFirst, kLast };

struct MergeRules {
  bool mixed_machines = false, mixed_binaries = false;  ///< may be joined
  std::optional<DuplicateWinner> winner;                ///< of two results of one cell
  /// Results of one cell are those of equal processes, and become one record with an interval over
  /// processes (pooled_record()), which has converged within this part of the median.
  std::optional<double> pool_precision;
};

/// One run with the records of all, in their order; devices with ceilings of their own stay apart.
/// Of a cell that one run did not reach and another measured, the measured one stays. Throws
/// ConfigError, naming both files, for machines or binaries that differ and for a cell that two
/// measured, unless the rules allow it; and always for two scenarios of one name. Pooled runs have
/// one entry for each device: the first run's ceilings.
[[nodiscard]] RunResult merge_runs(std::vector<NamedRun> runs, const MergeRules& rules);

}  // namespace attnbench
