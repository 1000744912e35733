// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "lib/trace/trace.h"
#include "lib/trace/trace_stats.h"

namespace attnbench {

/// Malformed rows and requests without an answer, each with what it means; nothing where all rows
/// were taken.
void write_left_out(const Trace& trace, std::ostream& out);

void write_stats_text(const Trace& trace, const TraceStats& stats, std::ostream& out);
void write_stats_json(const Trace& trace, const TraceStats& stats, std::ostream& out);

}  // namespace attnbench
