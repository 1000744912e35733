// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/child_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
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

std::string ChildOutput::last_line() const {
  const std::string all = text.substr(0, text.find_last_not_of('\n') + 1);
  return all.substr(all.rfind('\n') + 1);
}

ChildOutput output_of_child(std::vector<std::string> words, std::chrono::milliseconds limit,
                            const std::function<bool()>& stop_requested) {
  using std::chrono::steady_clock;
  ProcessFamily family;
  Pipe pipe;
  ChildProcess child(std::move(words), pipe.in, &family, pipe.in);
  pipe.close_in();
  ChildOutput output;
  const auto deadline = steady_clock::now() + limit;
  bool stopped = false;
  // A process that it has started may keep the pipe open: its own end is what counts.
  while (!stopped && steady_clock::now() < deadline && read_some(pipe.out, output.text)) {
    if (child.has_ended() && !has_more(pipe.out)) break;
    stopped = stop_requested && stop_requested();
  }
  using std::chrono::milliseconds;
  const auto left = stopped
                        ? milliseconds(0)
                        : std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
  const std::optional<std::string> end = child.end(std::max(left, milliseconds(0)));
  output.end = end       ? *end
               : stopped ? "was stopped"
                         : fmt::format("gave no answer within {} s",
                                       std::chrono::duration<double>(limit).count());
  return output;
}

ChildOutput output_of_description(std::vector<std::string> words, const std::string& file,
                                  const Describing& describing) {
  using std::chrono::steady_clock;
  const auto begin = steady_clock::now();
  bool told = !describing.waiting || describing.patience >= describing.limit;
  const auto tell = [&] {
    if (told || steady_clock::now() - begin < describing.patience) return false;
    told = true;
    describing.waiting(
        fmt::format("waiting for {} to say which backends it holds, for at most {} s "
                    "(--plugin-timeout)",
                    file, describing.limit.count()));
    return false;
  };
  return output_of_child(describing.confined(std::move(words)),
                         std::chrono::duration_cast<std::chrono::milliseconds>(describing.limit),
                         tell);
}

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
