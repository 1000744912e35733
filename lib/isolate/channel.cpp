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

/// An answer nests a few levels; the parser calls itself for each and knows no limit.
constexpr int kDeepest = 64;

/// Looks at no value, only at how deep they lie.
class NestingCheck final : public nlohmann::json_sax<nlohmann::json> {
 public:
  [[nodiscard]] const std::string& fault() const { return fault_; }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool key(string_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*elements*/) override { return enter(); }
  bool start_array(std::size_t /*elements*/) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    fault_ = error.what();
    return false;
  }

 private:
  bool enter() {
    if (++depth_ > kDeepest) fault_ = fmt::format("it nests more than {} levels", kDeepest);
    return fault_.empty();
  }
  bool leave() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  std::string fault_;
};

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
  const std::vector<std::uint8_t> bytes = nlohmann::json::to_msgpack(message);
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
  NestingCheck check;
  if (!nlohmann::json::sax_parse(bytes, &check, nlohmann::json::input_format_t::msgpack)) {
    throw ChannelClosed(fmt::format("what came is no message: {}", check.fault()));
  }
  nlohmann::json message = nlohmann::json::from_msgpack(bytes);
  if (!message.is_object()) throw ChannelClosed("what came is no message");
  return message;
}

void Channel::close() noexcept {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace attnbench
