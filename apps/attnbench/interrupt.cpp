// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/interrupt.h"

#include <csignal>

namespace attnbench {
namespace {

// The one global of the program: a signal handler has no other place to write to.
volatile std::sig_atomic_t received_signal = 0;

void remember(int signal) {
  received_signal = signal;
  std::signal(signal, SIG_DFL);  // a second signal ends the process
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, remember);
  std::signal(SIGTERM, remember);
  if (std::signal(SIGHUP, remember) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // under nohup
  std::signal(SIGPIPE, SIG_IGN);
}

int interrupt_signal() noexcept { return received_signal; }

}  // namespace attnbench
