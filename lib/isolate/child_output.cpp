// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/child_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "lib/base/error.h"
#include "lib/isolate/child_process.h"
#include "lib/isolate/process_family.h"

namespace attnbench {
namespace {

constexpr int kLookMs = 10;
/// More text than any message, and as much as descriptions ever take.
constexpr std::size_t kMostText = std::size_t{4} << 20;

/// Two descriptors, closed with it.
struct Pipe {
  Pipe() {
    int both[2];
    if (pipe2(both, O_CLOEXEC) != 0) {
      throw EnvironmentError(fmt::format("cannot start a process: pipe: {}", std::strerror(errno)));
    }
    out = both[0];
    in = both[1];
  }
  ~Pipe() {
    ::close(out);
    close_in();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_in() {
    if (in >= 0) ::close(in);
    in = -1;
  }
  int out = -1, in = -1;
};

/// Adds what can be read at once; false once there will be no more.
bool read_some(int from, std::string& text) {
  pollfd polled{from, POLLIN, 0};
  if (poll(&polled, 1, kLookMs) <= 0) return true;
  std::array<char, 4096> part;
  const ssize_t count = ::read(from, part.data(), part.size());
  if (count < 0) return errno == EINTR;
  text.append(part.data(), static_cast<std::size_t>(count));
  if (text.size() > kMostText) text.erase(0, kMostText / 2);
  return count > 0;
}

bool has_more(int from) {
  pollfd polled{from, POLLIN, 0};
  return poll(&polled, 1, 0) > 0 && (polled.revents & POLLIN) != 0;
}

}  // namespace

std::string ChildOutput::last_line() const {
  const std::string all = text.substr(0, text.find_last_not_of('\n') + 1);
  return all.substr(all.rfind('\n') + 1);
}

ChildOutput output_of_child(std::vector<std::string> words, std::chrono::milliseconds limit) {
  using std::chrono::steady_clock;
  ProcessFamily family;
  Pipe pipe;
  ChildProcess child(std::move(words), pipe.in, &family, pipe.in);
  pipe.close_in();
  ChildOutput output;
  const auto deadline = steady_clock::now() + limit;
  // A process that it has started may keep the pipe open: its own end is what counts.
  while (steady_clock::now() < deadline && read_some(pipe.out, output.text)) {
    if (child.has_ended() && !has_more(pipe.out)) break;
  }
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
  const std::optional<std::string> end = child.end(std::max(left, std::chrono::milliseconds(0)));
  output.end = end.value_or(
      fmt::format("gave no answer within {} s", std::chrono::duration<double>(limit).count()));
  return output;
}

}  // namespace attnbench
