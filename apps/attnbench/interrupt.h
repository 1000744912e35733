// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace attnbench {

/// For a run, which has results to keep: turns Ctrl-C, SIGTERM and a hang-up of the terminal into
/// a request to stop (a second one ends the process at once), and SIGPIPE into an ordinary write
/// error. Every other command, and a run that still reads its scenarios, ends by the signal itself.
void catch_interrupts();

/// The signal that asked for a stop, 0 while none has.
[[nodiscard]] int interrupt_signal() noexcept;

}  // namespace attnbench
