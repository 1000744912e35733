// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

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

}  // namespace attnbench
