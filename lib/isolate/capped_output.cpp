// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/capped_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "lib/base/error.h"

namespace attnbench {
namespace {

void write_all(int to, const char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(to, text, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody reads it
    text += written;
    size -= static_cast<std::size_t>(written);
  }
}

}  // namespace

CappedOutput::CappedOutput(std::string name, int to, std::size_t most) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw EnvironmentError(
        fmt::format("cannot start a worker process: pipe: {}", std::strerror(errno)));
  }
  exit_ = ends[0];
  entrance_ = ends[1];
  stop_ = eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this, name = std::move(name), to, most] { hand_on(name, to, most); });
}

CappedOutput::~CappedOutput() {
  close_entrance();
  const std::uint64_t stop = 1;
  static_cast<void>(!::write(stop_, &stop, sizeof stop));
  thread_.join();
  ::close(exit_);
  ::close(stop_);
}

void CappedOutput::close_entrance() noexcept {
  if (entrance_ >= 0) ::close(entrance_);
  entrance_ = -1;
}

void CappedOutput::hand_on(std::string name, int to, std::size_t most) const {
  std::array<char, std::size_t{1} << 16> part;
  std::size_t left = most, after_stop = part.size();  // a full pipe may still be there
  bool told = false;
  while (true) {
    std::array<pollfd, 2> both{{{exit_, POLLIN, 0}, {stop_, POLLIN, 0}}};
    if (poll(both.data(), both.size(), -1) < 0) continue;  // by a signal
    const bool stopped = both[1].revents != 0;
    if (both[0].revents == 0 || (stopped && after_stop == 0)) return;
    const ssize_t count = ::read(exit_, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    const auto size = static_cast<std::size_t>(count);
    if (stopped) after_stop -= std::min(after_stop, size);
    const std::size_t shown = std::min(size, left);
    write_all(to, part.data(), shown);
    left -= shown;
    if (shown == size || told) continue;
    told = true;
    const std::string note =
        fmt::format("\nnote: {} has printed more than {} bytes; the rest is dropped\n", name, most);
    write_all(to, note.data(), note.size());
  }
}

}  // namespace attnbench
