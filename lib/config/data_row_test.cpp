// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/data_row.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

enum class Colour { kRed, kGreen };
constexpr std::string_view kColourWords[] = {"red", "green"};

struct Apple {
  int weight = 7;
  std::string name = "none";
  std::vector<std::int64_t> seeds;
  Colour colour = Colour::kRed;
};

Apple read_apple(std::string_view text) {
  Apple apple;
  read_data(text, "apple.yaml", [&](const YamlNode& root, Problems& problems) {
    DataRow row(root, problems);
    row.read("weight", apple.weight);
    row.read("name", apple.name);
    row.read("seeds", apple.seeds);
    row.read("colour", apple.colour, kColourWords);
    row.refuse_others();
  });
  return apple;
}

std::string mistakes_in(std::string_view text) {
  try {
    (void)read_apple(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

TEST(DataRow, reads_what_is_there_and_keeps_defaults) {
  const Apple apple = read_apple("{seeds: [3, 5], colour: green}");
  EXPECT_EQ(apple.weight, 7);
  EXPECT_EQ(apple.name, "none");
  EXPECT_EQ(apple.seeds, (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(apple.colour, Colour::kGreen);
}

TEST(DataRow, names_the_file_and_the_mistake) {
  for (const auto& [text, mistake] :
       {std::pair("{weigth: 1}", "unknown key 'weigth'"), std::pair("{weight: -1}", "weight"),
        std::pair("{weight: heavy}", "heavy"),
        std::pair("{name: [a]}", "name takes a text, found a list"),
        std::pair("{seeds: 3}", "takes a list, found '3'"), std::pair("{colour: blue}", "blue"),
        std::pair("[weight]", "takes a map, found a list")}) {
    const std::string said = mistakes_in(text);
    EXPECT_NE(said.find(mistake), std::string::npos) << text << ": " << said;
    EXPECT_NE(said.find("apple.yaml"), std::string::npos) << text << ": " << said;
  }
}

}  // namespace
}  // namespace attnbench
