// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace attnbench {

/// Gives up, for this process and all that it starts, what lets a superuser's process read or write
/// the memory of any other, signal it, or change its priority (CAP_SYS_PTRACE, CAP_KILL,
/// CAP_SYS_NICE). A process of an ordinary user has none of it. Processes of one user can still
/// signal each other and bind each other to processors.
void give_up_power_over_others() noexcept;

/// Keeps processes without such power out of the memory of this one (/proc/PID/mem, ptrace), which
/// holds the verdicts. It leaves no core file from then on.
void close_memory_to_others() noexcept;

}  // namespace attnbench
