// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

#include "lib/session/session.h"

namespace attnbench {
namespace {

using nlohmann::json;

struct Ends {
  Ends() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    here = std::make_unique<Channel>(ends[0]);
    there = std::make_unique<Channel>(ends[1]);
  }
  std::unique_ptr<Channel> here, there;
};

Patience for_ms(int ms) {
  return {std::chrono::steady_clock::now() + std::chrono::milliseconds(ms), {}};
}

TEST(Channel, carries_messages_in_order) {
  Ends ends;
  const json::binary_t bytes(std::vector<std::uint8_t>(10, 0xff));
  ends.here->send({{"step", "one\ntwo"}, {"bytes", bytes}, {"nan", std::nan("")}}, for_ms(1000));
  ends.here->send({{"step", "next"}}, for_ms(1000));
  const json first = ends.there->receive(for_ms(1000));
  EXPECT_EQ(first["step"], "one\ntwo");
  EXPECT_EQ(first["bytes"].get_binary(), bytes);
  EXPECT_TRUE(std::isnan(first["nan"].get<double>()));
  EXPECT_EQ(ends.there->receive(for_ms(1000))["step"], "next");
}

/// More than a socket holds.
json much() {
  std::vector<std::uint8_t> bytes(std::size_t{20} << 20);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 >> 3);
  return {{"bytes", json::binary(std::move(bytes))}};
}

TEST(Channel, carries_more_than_a_socket_holds) {
  Ends ends;
  const json message = much();
  std::thread sender([&] { ends.here->send(message, for_ms(20000)); });
  EXPECT_TRUE(ends.there->receive(for_ms(20000)) == message);
  sender.join();
}

TEST(Channel, carries_text_that_is_no_utf8) {
  Ends ends;
  ends.here->send({{"what", "bad \xff byte"}}, for_ms(1000));
  EXPECT_EQ(ends.there->receive(for_ms(1000))["what"], "bad \xff byte");
}

TEST(Channel, gives_up_at_the_deadline) {
  Ends ends;
  EXPECT_THROW(static_cast<void>(ends.here->receive(for_ms(20))), ChannelTimeout);
  EXPECT_THROW(ends.here->send(much(), for_ms(20)), ChannelTimeout);
}

TEST(Channel, stops_waiting_when_told) {
  Ends ends;
  int asked = 0;
  const Patience patience{{}, [&] { return ++asked == 3; }};
  EXPECT_THROW(static_cast<void>(ends.here->receive(patience)), RunStopped);
  EXPECT_EQ(asked, 3);
}

TEST(Channel, notices_that_the_other_end_is_gone) {
  Ends ends;
  ends.there.reset();
  EXPECT_THROW(static_cast<void>(ends.here->receive(for_ms(1000))), ChannelClosed);
  EXPECT_THROW(ends.here->send(json::object(), for_ms(1000)), ChannelClosed);
}

/// What is said of bytes that the other end sends.
std::string said_of(const std::string& bytes) {
  int pair[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  Channel here(pair[0]);
  const Channel there(pair[1]);
  EXPECT_EQ(send(pair[1], bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  try {
    static_cast<void>(here.receive(for_ms(1000)));
  } catch (const ChannelClosed& closed) {
    return closed.what();
  }
  return "nothing";
}

TEST(Channel, takes_no_other_language) {
  using namespace std::string_literals;
  EXPECT_EQ(said_of("hello\n"), "what came is no message");
  EXPECT_EQ(said_of("\1\0\0\0\7"s), "what came is no message") << "a number";
  const auto broken = testing::StartsWith("what came is no message: ");
  EXPECT_THAT(said_of("\3\0\0\0\x81\xa1\x61"s), broken) << "an object that is cut short";
  EXPECT_THAT(said_of("\2\0\0\0\x80\x80"s), broken) << "two of them";
}

// The parser calls itself for each level, and the process that judges has one stack.
TEST(Channel, takes_no_message_that_is_nested_deeply) {
  constexpr std::size_t kLevels = 100000;
  std::string bytes(sizeof(std::uint32_t), '\0');
  const std::uint32_t length = kLevels;
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes.append(kLevels, '\x91');  // an array of one
  EXPECT_EQ(said_of(bytes), "what came is no message: it nests more than 64 levels");
}

}  // namespace
}  // namespace attnbench
