// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/isolate/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <thread>

#include "lib/bench/workshop.h"

namespace attnbench {
namespace {

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

TEST(Channel, carries_json_and_bytes_in_order) {
  Ends ends;
  const std::vector<std::byte> bytes(10, std::byte{'\n'});
  ends.here->send({{"step", "one\ntwo"}}, bytes, for_ms(1000));
  ends.here->send({{"step", "next"}}, {}, for_ms(1000));
  const Message first = ends.there->receive(for_ms(1000));
  EXPECT_EQ(first.head["step"], "one\ntwo");
  EXPECT_EQ(first.bytes, bytes);
  const Message next = ends.there->receive(for_ms(1000));
  EXPECT_EQ(next.head["step"], "next");
  EXPECT_TRUE(next.bytes.empty());
}

TEST(Channel, carries_more_than_a_socket_holds) {
  Ends ends;
  std::vector<std::byte> bytes(std::size_t{20} << 20);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 >> 3);
  std::thread sender([&] { ends.here->send({}, bytes, for_ms(20000)); });
  EXPECT_TRUE(ends.there->receive(for_ms(20000)).bytes == bytes);
  sender.join();
}

TEST(Channel, sends_messages_that_are_no_utf8) {
  Ends ends;
  ends.here->send({{"what", "bad \xff byte"}}, {}, for_ms(1000));
  EXPECT_EQ(ends.there->receive(for_ms(1000)).head["what"], "bad \xef\xbf\xbd byte");
}

TEST(Channel, gives_up_at_the_deadline) {
  Ends ends;
  EXPECT_THROW(static_cast<void>(ends.here->receive(for_ms(20))), ChannelTimeout);
  const std::vector<std::byte> more_than_fits(std::size_t{20} << 20);
  EXPECT_THROW(ends.here->send({}, more_than_fits, for_ms(20)), ChannelTimeout);
}

TEST(Channel, stops_waiting_when_told) {
  Ends ends;
  int asked = 0;
  const Patience patience{{}, [&] { return ++asked == 3; }};
  EXPECT_THROW(static_cast<void>(ends.here->receive(patience)), WorkStopped);
  EXPECT_EQ(asked, 3);
}

TEST(Channel, notices_that_the_other_end_is_gone) {
  Ends ends;
  ends.there.reset();
  EXPECT_THROW(static_cast<void>(ends.here->receive(for_ms(1000))), ChannelClosed);
  EXPECT_THROW(ends.here->send({}, {}, for_ms(1000)), ChannelClosed);
}

TEST(Channel, takes_no_other_language) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  Channel here(pair[0]);
  const Channel there(pair[1]);
  const std::string text = "hello\n";
  ASSERT_EQ(send(pair[1], text.data(), text.size(), 0), 6);
  EXPECT_THROW(static_cast<void>(here.receive(for_ms(1000))), ChannelClosed);
}

}  // namespace
}  // namespace attnbench
