// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace attnbench {

/// Turns Ctrl-C and SIGTERM into a request to stop (a second Ctrl-C ends the process at once), and
/// SIGPIPE into an ordinary write error, so that a closed pipe loses no result.
void catch_interrupts();

/// The signal that asked for a stop, 0 while none has.
[[nodiscard]] int interrupt_signal() noexcept;

}  // namespace attnbench
