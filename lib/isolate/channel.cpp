// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/channel.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "lib/base/error.h"
#include "lib/session/session.h"

namespace attnbench {
namespace {

using std::chrono::steady_clock;

/// A request to stop is noticed within this time.
constexpr int kPollMs = 50;
constexpr std::size_t kReadBytes = std::size_t{1} << 16;
/// Far above the size of a step's reference. Text that is read as a length exceeds it: four spaces
/// are 0x20202020.
constexpr std::uint32_t kLongestMessage = 0x20000000;

/// Full, empty or interrupted: to be tried again.
bool for_now(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

void Channel::wait_for(short events, const Patience& patience) const {
  while (true) {
    const bool bounded = patience.stop || patience.deadline;
    pollfd polled{descriptor_, events, 0};
    if (poll(&polled, 1, bounded ? kPollMs : -1) > 0) return;
    if (patience.stop && patience.stop()) throw RunStopped();
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

void Channel::send(const nlohmann::json& message, const Patience& patience) {
  const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(message);
  expects(bytes.size() < kLongestMessage, "a message is too long for a worker's channel");
  const auto length = static_cast<std::uint32_t>(bytes.size());
  send_all(std::as_bytes(std::span(&length, 1)), patience);
  send_all(std::as_bytes(std::span(bytes)), patience);
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

std::vector<std::byte> Channel::take(std::size_t count, const Patience& patience) {
  while (read_.size() < count) read_more(patience);
  const auto end = read_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<std::byte> taken(read_.begin(), end);
  read_.erase(read_.begin(), end);
  return taken;
}

nlohmann::json Channel::receive(const Patience& patience) {
  std::uint32_t length = 0;
  std::memcpy(&length, take(sizeof length, patience).data(), sizeof length);
  if (length >= kLongestMessage) throw ChannelClosed("what came is no message");
  const std::vector<std::byte> bytes = take(length, patience);
  try {
    nlohmann::json message = nlohmann::json::from_cbor(bytes);
    if (message.is_object()) return message;
  } catch (const nlohmann::json::exception& error) {
    throw ChannelClosed(fmt::format("what came is no message: {}", error.what()));
  }
  throw ChannelClosed("what came is no message");
}

void Channel::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace attnbench
