// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/language.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "lib/scenario/scenario.h"
#include "lib/scenario/testing/cases.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;
const fs::path kHouse = ATTNBENCH_SOURCE_DIR;
const fs::path kPages[] = {kHouse / "scenarios/README.md", kHouse / "scenarios/language.md",
                           kHouse / "scenarios/padding_and_encoders.md"};

std::string text_of(const fs::path& page) {
  std::ifstream file(page);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const fs::path& page) {
  std::ifstream file(page);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(Language, is_the_table_of_its_reference) {
  const fs::path path = kHouse / "scenarios/keys.md";
  const std::string page = text_of(path);
  const std::string head = page.substr(0, page.find("\n## "));
  const std::string wanted = head + reference_of(scenario_language());
  if (std::getenv("ATTNBENCH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << wanted;
  } else {
    EXPECT_EQ(page, wanted) << "set ATTNBENCH_UPDATE_GOLDEN to write " << path;
  }
}

TEST(Language, says_something_of_each_key_of_sections_that_exist) {
  for (const KeySection& section : scenario_language().sections()) {
    std::set<std::string_view> names;
    for (const KeyRow& row : section.rows) {
      EXPECT_TRUE(names.insert(row.name).second) << section.name << '.' << row.name;
      EXPECT_FALSE(row.says.empty()) << section.name << '.' << row.name;
      EXPECT_FALSE(row.value.takes.empty()) << section.name << '.' << row.name;
      if (row.value.section.empty()) continue;
      EXPECT_EQ(scenario_language().section(row.value.section).name, row.value.section);
    }
  }
}

/// A default that the reference states in words of its own would not be seen to change.
TEST(Language, states_the_defaults_of_what_is_read) {
  const auto row = [](const char* section, const char* key) {
    return std::string(scenario_language().section(section).find(key)->default_text());
  };
  const MeasureConfig measure;
  EXPECT_EQ(row("measure", "rounds"), "[" + std::to_string(measure.min_rounds) + ", " +
                                          std::to_string(measure.max_rounds) + "]");
  EXPECT_EQ(row("measure", "samples"), "[" + std::to_string(measure.min_block_samples) + ", " +
                                           std::to_string(measure.max_block_samples) + "]");
  EXPECT_EQ(row("measure", "precision"), "0.5%");
  EXPECT_EQ(row("measure", "timeout"), "15s");
  EXPECT_EQ(row("verify", "rows"), "512");
  EXPECT_EQ(row("kv_cache", "placement"), "shuffled");
  EXPECT_EQ(row("mix", "dtype"), to_string(only_case("batch: q1s8").dtype));
}

/// The YAML that a page shows; each block is a whole scenario.
std::vector<std::string> examples_of(const fs::path& page) {
  std::vector<std::string> examples;
  bool inside = false;
  for (const std::string& line : lines_of(page)) {
    if (line == "```yaml") {
      inside = true;
      examples.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      examples.back() += line + "\n";
    }
  }
  return examples;
}

TEST(ScenarioPages, show_examples_that_load) {
  for (const fs::path& page : kPages) {
    const std::vector<std::string> examples = examples_of(page);
    EXPECT_GE(examples.size(), 1u) << page;
    for (const std::string& example : examples) {
      EXPECT_NO_THROW(EXPECT_FALSE(parse_scenario(example, "README.md").cases.empty())) << example;
    }
  }
}

TEST(ScenarioPages, have_short_lines) {
  EXPECT_LE(lines_of(kPages[0]).size(), 300u) << "a guide of examples; rules are language.md's";
  for (const fs::path& page : kPages) {
    for (const std::string& line : lines_of(page)) {
      if (line.starts_with("|")) continue;  // a row of a table is one line
      EXPECT_LE(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }), 120)
          << line;
    }
  }
}

TEST(FirstPage, shows_a_first_scenario_with_the_cases_that_it_names) {
  const std::vector<std::string> examples = examples_of(kHouse / "README.md");
  ASSERT_EQ(examples.size(), 1u);
  EXPECT_THAT(case_ids(parse_scenario(examples.front(), "my.yaml")),
              testing::ElementsAreArray({"chat/ps16", "chat/ps64"}));
}

}  // namespace
}  // namespace attnbench
