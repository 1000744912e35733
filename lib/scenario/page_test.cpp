// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "lib/config/scenario_keys.h"
#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;
const fs::path kPages[] = {fs::path(ATTNBENCH_SOURCE_DIR) / "scenarios/README.md",
                           fs::path(ATTNBENCH_SOURCE_DIR) / "scenarios/padding_and_encoders.md"};
const fs::path kFirstPage = fs::path(ATTNBENCH_SOURCE_DIR) / "README.md";

std::vector<std::string> lines_of(const fs::path& page) {
  std::ifstream file(page);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Keys of each table, by the section that the comment above it names.
std::map<std::string, std::vector<std::string>> documented_keys() {
  std::map<std::string, std::vector<std::string>> keys;
  const std::string mark = "<!-- keys: ";
  std::string section;
  for (const fs::path& page : kPages) {
    for (const std::string& line : lines_of(page)) {
      if (line.starts_with(mark)) {
        section = line.substr(mark.size(), line.find(" -->") - mark.size());
      }
      if (line.empty()) section.clear();
      if (!section.empty() && line.starts_with("| `")) {
        keys[section].push_back(line.substr(3, line.find('`', 3) - 3));
      }
    }
  }
  return keys;
}

TEST(ScenarioPage, documents_every_key_and_no_other) {
  std::map<std::string, std::vector<std::string>> known;
  for (const KeySection& section : key_sections()) {
    for (const ScenarioKey& key : section.keys) {
      known[std::string(section.name)].emplace_back(key.name);
    }
  }
  EXPECT_EQ(documented_keys(), known);
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

TEST(ScenarioPage, shows_examples_that_load) {
  for (const fs::path& page : kPages) {
    const std::vector<std::string> examples = examples_of(page);
    EXPECT_GE(examples.size(), 1u) << page;
    for (const std::string& example : examples) {
      EXPECT_NO_THROW(EXPECT_FALSE(parse_scenario(example, "README.md").cases.empty())) << example;
    }
  }
}

TEST(ScenarioPage, shows_batches_lengths_and_sweeps_before_models_and_caches_in_short_lines) {
  std::vector<std::string> titles;
  for (const fs::path& page : kPages) {
    for (const std::string& line : lines_of(page)) {
      if (line.starts_with("#")) titles.push_back(line.substr(line.find(' ') + 1));
      // A row of a table is one line.
      if (line.starts_with("|")) continue;
      EXPECT_LE(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }), 120)
          << line;
    }
  }
  const auto place = [&](const std::string& title) {
    return std::ranges::find(titles, title) - titles.begin();
  };
  EXPECT_LT(place("batch"), place("lengths"));
  EXPECT_LT(place("lengths"), place("sweep"));
  EXPECT_LT(place("sweep"), place("model"));
  EXPECT_LT(place("model"), place("mixes.NAME.padding"));
}

TEST(FirstPage, shows_a_first_scenario_with_the_cases_that_it_names) {
  const std::vector<std::string> examples = examples_of(kFirstPage);
  ASSERT_EQ(examples.size(), 1u);
  std::vector<std::string> ids;
  for (const Case& c : parse_scenario(examples.front(), "my.yaml").cases) ids.push_back(c.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"chat/ps16", "chat/ps64"}));
}

}  // namespace
}  // namespace attnbench
