// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/isolate/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/bench/workshop.h"

namespace attnbench {
namespace {

using std::chrono::steady_clock;

/// A request to stop is noticed within this.
constexpr int kPollMs = 50;
constexpr std::size_t kReadBytes = std::size_t{1} << 16;
constexpr std::size_t kLongestLine = std::size_t{16} << 20;

/// Full, empty or interrupted: to be tried again.
bool for_now(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

void Channel::wait_for(short events, const Patience& patience) const {
  while (true) {
    const bool bounded = patience.stop || patience.deadline;
    pollfd polled{descriptor_, events, 0};
    if (poll(&polled, 1, bounded ? kPollMs : -1) > 0) return;
    if (patience.stop && patience.stop()) throw WorkStopped();
    if (patience.deadline && steady_clock::now() > *patience.deadline) {
      throw ChannelTimeout("no answer");
    }
  }
}

void Channel::send_all(std::span<const std::byte> bytes, const Patience& patience) const {
  while (!bytes.empty()) {
    wait_for(POLLOUT, patience);
    const ssize_t sent =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && for_now(errno)) continue;
    if (sent < 0) throw ChannelClosed(std::strerror(errno));
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

void Channel::send(nlohmann::json head, std::span<const std::byte> bytes,
                   const Patience& patience) {
  head["bytes"] = bytes.size();
  // A backend's message may be of any bytes.
  std::string line = head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  line += '\n';
  send_all(std::as_bytes(std::span(line)), patience);
  send_all(bytes, patience);
}

void Channel::read_more(const Patience& patience) {
  wait_for(POLLIN, patience);
  const std::size_t before = read_.size();
  read_.resize(before + kReadBytes);
  const ssize_t count = recv(descriptor_, read_.data() + before, kReadBytes, MSG_DONTWAIT);
  read_.resize(before + static_cast<std::size_t>(std::max(count, ssize_t{0})));
  if (count == 0) throw ChannelClosed("the other end has closed");
  if (count < 0 && !for_now(errno)) throw ChannelClosed(std::strerror(errno));
}

Message Channel::receive(const Patience& patience) {
  std::size_t searched = 0;
  auto end = read_.end();
  while (true) {
    end = std::find(read_.begin() + static_cast<std::ptrdiff_t>(searched), read_.end(),
                    std::byte{'\n'});
    if (end != read_.end()) break;
    if (read_.size() > kLongestLine) throw ChannelClosed("a line without end");
    searched = read_.size();
    read_more(patience);
  }
  Message message;
  try {
    message.head =
        nlohmann::json::parse(std::string(reinterpret_cast<const char*>(read_.data()),
                                          static_cast<std::size_t>(end - read_.begin())));
    const auto count = message.head.at("bytes").get<std::size_t>();
    read_.erase(read_.begin(), end + 1);
    while (read_.size() < count) read_more(patience);
    const auto rest = read_.begin() + static_cast<std::ptrdiff_t>(count);
    message.bytes.assign(read_.begin(), rest);
    read_.erase(read_.begin(), rest);
  } catch (const nlohmann::json::exception& error) {
    throw ChannelClosed(error.what());
  }
  return message;
}

void Channel::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace attnbench
