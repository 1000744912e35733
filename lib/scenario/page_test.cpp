// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "lib/scenario/scenario.h"
#include "lib/scenario/scenario_keys.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;
const fs::path kScenarios = fs::path(ATTNBENCH_SOURCE_DIR) / "scenarios";

std::vector<std::string> lines_of_page() {
  std::ifstream file(kScenarios / "README.md");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Keys of each table, by the section that the comment above it names.
std::map<std::string, std::vector<std::string>> documented_keys() {
  std::map<std::string, std::vector<std::string>> keys;
  const std::string mark = "<!-- keys: ";
  std::string section;
  for (const std::string& line : lines_of_page()) {
    if (line.starts_with(mark)) section = line.substr(mark.size(), line.find(" -->") - mark.size());
    if (line.empty()) section.clear();
    if (!section.empty() && line.starts_with("| `")) {
      keys[section].push_back(line.substr(3, line.find('`', 3) - 3));
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

TEST(ScenarioPage, shows_examples_that_load) {
  std::string example;
  bool inside = false;
  int examples = 0;
  for (const std::string& line : lines_of_page()) {
    if (line == "```yaml") {
      inside = true;
      example.clear();
    } else if (line == "```" && inside) {
      inside = false;
      ++examples;
      EXPECT_NO_THROW(EXPECT_FALSE(parse_scenario(example, "README.md").cases.empty())) << example;
    } else if (inside) {
      example += line + "\n";
    }
  }
  EXPECT_GE(examples, 4);
}

}  // namespace
}  // namespace attnbench
