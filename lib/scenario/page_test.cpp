// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "lib/base/error.h"
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

std::vector<std::string> shipped_scenarios() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(kScenarios)) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().stem().string());
  }
  return files;
}

class ShippedScenario : public testing::TestWithParam<std::string> {};

TEST_P(ShippedScenario, loads_into_cases_with_ids_of_their_own) {
  const Scenario scenario = load_scenario((kScenarios / (GetParam() + ".yaml")).string());
  EXPECT_FALSE(scenario.cases.empty());
  EXPECT_FALSE(scenario.description.empty());
  std::set<std::string> ids;
  for (const Case& c : scenario.cases) EXPECT_TRUE(ids.insert(c.id).second) << c.id;
}

INSTANTIATE_TEST_SUITE_P(Files, ShippedScenario, testing::ValuesIn(shipped_scenarios()),
                         [](const auto& file) { return file.param; });

TEST(Seed, given_by_the_caller_overrides_the_file) {
  const std::string text =
      "seed: 1\ndefaults: {model: llama-3.1-8b}\n"
      "mixes: {m: {batch: [{count: 8, mode: decode, kv_len: {uniform: [1, 4k]}}]}}\n";
  const Scenario own = parse_scenario(text, "s.yaml"), other = parse_scenario(text, "s.yaml", 2);
  EXPECT_EQ(own.seed, 1u);
  EXPECT_EQ(other.seed, 2u);
  EXPECT_EQ(other.cases[0].seed, parse_scenario("x-y: 1\n" + text, "s.yaml", 2).cases[0].seed);
  std::vector<std::int64_t> lengths[2];
  for (int i = 0; i < 2; ++i) {
    for (const Request& request : (i == 0 ? own : other).cases[0].requests) {
      lengths[i].push_back(request.kv_len);
    }
  }
  EXPECT_NE(lengths[0], lengths[1]);
}

}  // namespace
}  // namespace attnbench
