// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace attnbench {

/// Where a worker finds its end of the channel. Not a standard stream: backends may print.
constexpr int kWorkerDescriptor = 3;

/// The other end has closed, or has sent something that is no message.
class ChannelClosed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ChannelTimeout : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How long to wait for the other end.
struct Patience {
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::function<bool()> stop;  ///< may be empty; makes a wait throw RunStopped
};

/// One end of a socket. A message is an object in MessagePack, which unlike JSON has NaN,
/// infinities and bytes; its length goes before it.
class Channel {
 public:
  /// Owns the descriptor.
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  ~Channel() { close(); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Both throw ChannelClosed, ChannelTimeout, RunStopped.
  void send(const nlohmann::json& message, const Patience& patience);
  [[nodiscard]] nlohmann::json receive(const Patience& patience);

  void close() noexcept;

 private:
  void wait_for(short events, const Patience& patience) const;
  void send_all(std::span<const std::byte> bytes, const Patience& patience) const;
  void read_more(const Patience& patience);
  [[nodiscard]] std::vector<std::byte> take(std::size_t count, const Patience& patience);

  int descriptor_;
  std::vector<std::byte> read_;  ///< and not yet taken
};

}  // namespace attnbench
