// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/trace/trace.h"

namespace attnbench {

struct TraceOptions {
  std::string format;   ///< empty: the one that the first line shows
  bool strict = false;  ///< a malformed row ends the reading
};

/// Reads a log of requests. A row that is malformed is left out, counted and told in
/// Trace::faults. Throws ConfigError: a file of no known format, without one good row, or, with
/// `strict`, with a bad one.
[[nodiscard]] Trace read_trace(const std::string& path, const TraceOptions& options);

}  // namespace attnbench
