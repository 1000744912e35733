// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/capped_output.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <string>

namespace attnbench {
namespace {

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
