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

/// For a run, which has results to keep: turns Ctrl-C, SIGTERM and a hang-up of the terminal into
/// a request to stop (a second one ends the process at once), and SIGPIPE into an ordinary write
/// error. Every other command, and a run that still reads its scenarios, ends by the signal itself.
void catch_interrupts();

/// The signal that asked for a stop, 0 while none has.
[[nodiscard]] int interrupt_signal() noexcept;

}  // namespace attnbench
