// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/standard_stream.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace attnbench {

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

}  // namespace attnbench
