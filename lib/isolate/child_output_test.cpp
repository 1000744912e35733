// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/child_output.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using testing::HasSubstr;

TEST(OutputOfChild, is_what_both_streams_say_and_how_it_ended) {
  const ChildOutput output =
      output_of_child({"sh", "-c", "echo one; echo two >&2; exit 3"}, minutes(1));
  EXPECT_EQ(output.text, "one\ntwo\n");
  EXPECT_EQ(output.last_line(), "two");
  EXPECT_EQ(output.end, "exited with code 3");
  EXPECT_FALSE(output.is_well());
  EXPECT_TRUE(output_of_child({"true"}, minutes(1)).is_well());
  EXPECT_THAT(output_of_child({"sh", "-c", "kill -9 $$"}, minutes(1)).end, HasSubstr("SIGKILL"));
  EXPECT_THROW(static_cast<void>(output_of_child({"/nowhere/python"}, minutes(1))),
               EnvironmentError);
}

TEST(OutputOfChild, is_waited_for_no_longer_than_told) {
  EXPECT_EQ(output_of_child({"sleep", "600"}, milliseconds(100)).end,
            "gave no answer within 0.1 s");
  int asked = 0;
  const auto third_time = [&] { return ++asked == 3; };
  EXPECT_EQ(output_of_child({"sleep", "600"}, minutes(1), third_time).end, "was stopped");
}

TEST(OutputOfDescription, says_once_what_is_waited_for_and_how_long) {
  std::vector<std::string> notes;
  Describing describing{.limit = milliseconds(300), .patience = milliseconds(50)};
  describing.waiting = [&](const std::string& note) { notes.push_back(note); };
  EXPECT_EQ(output_of_description({"sleep", "600"}, "slow.py", describing).end,
            "gave no answer within 0.3 s");
  EXPECT_EQ(notes, std::vector<std::string>{"waiting for slow.py to say which backends it holds, "
                                            "for at most 0.3 s (--plugin-timeout)"});
  notes.clear();
  describing.patience = describing.limit = minutes(1);
  EXPECT_TRUE(output_of_description({"true"}, "fast.py", describing).is_well());
  EXPECT_TRUE(notes.empty());
}

TEST(OutputOfChild, ends_what_the_child_has_left_behind) {
  const std::string path = testing::TempDir() + "left_behind_" + std::to_string(getpid());
  const std::string text = "setsid sh -c 'echo $$ > " + path + "; exec sleep 600' & while ! [ -s " +
                           path + " ]; do sleep 0.01; done";
  EXPECT_TRUE(output_of_child({"sh", "-c", text}, minutes(1)).is_well());
  pid_t left = 0;
  std::ifstream(path) >> left;
  ASSERT_GT(left, 0);
  EXPECT_EQ(kill(left, 0), -1);
  std::remove(path.c_str());
}

/// What arrives of `text`, of which `most` bytes may.
std::string handed_on(const std::string& text, std::size_t most) {
  std::array<int, 2> ends;
  EXPECT_EQ(pipe(ends.data()), 0);
  {
    const CappedOutput output("mine", ends[1], most);
    EXPECT_EQ(write(output.entrance(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }
  close(ends[1]);
  std::string all;
  std::array<char, 1000> part;
  for (ssize_t size; (size = read(ends[0], part.data(), part.size())) > 0;) {
    all.append(part.data(), static_cast<std::size_t>(size));
  }
  close(ends[0]);
  return all;
}

TEST(CappedOutput, hands_on_all_of_a_little_and_the_beginning_of_much) {
  EXPECT_EQ(handed_on("", 10), "");
  EXPECT_EQ(handed_on("0123456789", 10), "0123456789");
  EXPECT_EQ(handed_on("0123456789a", 10),
            "0123456789\nnote: mine has printed more than 10 bytes; the rest is dropped\n");
  const std::string much(50'000, 'x');
  EXPECT_EQ(handed_on(much, 20'000).find("\nnote"), 20'000u);
}

}  // namespace
}  // namespace attnbench
