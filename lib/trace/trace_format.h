// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attnbench {

/// A kind of file that requests are read from.
struct TraceFormat {
  std::string_view name;
  /// Columns of a CSV: arrival, tokens of the prompt, tokens of the answer. Empty: JSON lines.
  std::string_view arrival, input, output;
  std::string_view source;  ///< who writes it
};

[[nodiscard]] std::span<const TraceFormat> trace_formats();

/// By its name. Throws ConfigError with the nearest one.
[[nodiscard]] const TraceFormat& trace_format_named(std::string_view name);

/// The format whose first line this is; nullptr: none.
[[nodiscard]] const TraceFormat* format_of_first_line(std::string_view line);

/// A line for each format, for messages and help.
[[nodiscard]] std::string known_trace_formats();

}  // namespace attnbench
