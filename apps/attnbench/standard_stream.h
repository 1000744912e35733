// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace attnbench {

// Properties of a standard stream that a C++ stream does not report.

/// Whether it is a terminal that understands escape sequences (TERM is set, and not to "dumb").
[[nodiscard]] bool takes_escapes(int descriptor);
/// Columns of the terminal now; 0 where there is none.
[[nodiscard]] std::size_t terminal_width(int descriptor);
/// Whether it is a pipe whose reader has gone, as after `| head`.
[[nodiscard]] bool reader_is_gone(int descriptor);

}  // namespace attnbench
