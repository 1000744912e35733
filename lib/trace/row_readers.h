// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>

#include "lib/trace/trace.h"
#include "lib/trace/trace_format.h"

namespace attnbench {

/// The latest arrival in seconds since 1970 or since a trace began: the year 2286. Later ones are
/// milliseconds that were taken for seconds.
inline constexpr double kLastArrival = 1e10;
/// Most tokens of a prompt or an answer: more than the longest context of a model, which is 10 M
/// (Llama 4 Scout's model card).
inline constexpr std::int64_t kMostTokens = 1 << 24;

// Each appends the rows of a file to the requests, blocks and faults of a trace. Arrivals are as
// the file has them.

/// Any CSV may have the columns prefix_group and prefix_tokens: requests of one group begin with
/// the same tokens.
void read_csv_rows(std::istream& file, const TraceFormat& format, Trace& trace);
/// Mooncake's objects, one a line.
void read_json_rows(std::istream& file, const TraceFormat& format, Trace& trace);

}  // namespace attnbench
