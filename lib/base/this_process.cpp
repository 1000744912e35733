// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/this_process.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

namespace attnbench {
namespace {

// The one global of the program: a signal handler has no other place to write to.
volatile std::sig_atomic_t received_signal = 0;

void remember(int signal) {
  received_signal = signal;
  std::signal(signal, SIG_DFL);  // a second signal ends the process
}

}  // namespace

bool takes_escapes(int descriptor) {
  const char* const kind = std::getenv("TERM");
  return isatty(descriptor) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

std::size_t terminal_width(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool reader_is_gone(int descriptor) {
  pollfd stream{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return poll(&stream, 1, 0) == 1 && (stream.revents & POLLERR) != 0;
}

void catch_interrupts() {
  std::signal(SIGINT, remember);
  std::signal(SIGTERM, remember);
  if (std::signal(SIGHUP, remember) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // under nohup
  std::signal(SIGPIPE, SIG_IGN);
}

int interrupt_signal() noexcept { return received_signal; }

}  // namespace attnbench
