// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(ATTNBENCH_SOURCE_DIR) / "lib/scenario/testdata/bad";

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::vector<std::string> bad_files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

/// What a user reads; the file goes by its name alone, so that the text is the same everywhere.
std::string message_for(const std::string& name) {
  try {
    static_cast<void>(parse_scenario(read_file(kFolder / (name + ".yaml")), name + ".yaml"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted\n";
}

class BadScenario : public testing::TestWithParam<std::string> {};

TEST_P(BadScenario, is_refused_with_the_recorded_message) {
  EXPECT_EQ(message_for(GetParam()), read_file(kFolder / (GetParam() + ".txt")));
}

INSTANTIATE_TEST_SUITE_P(Corpus, BadScenario, testing::ValuesIn(bad_files()),
                         [](const auto& file) { return file.param; });

TEST(BadScenarios, number_at_least_sixty) { EXPECT_GE(bad_files().size(), 60u); }

TEST(BadScenarios, each_name_a_line_unless_the_whole_file_is_wrong) {
  for (const std::string& name : bad_files()) {
    if (name == "empty_file" || name == "only_a_comment") continue;
    try {
      static_cast<void>(parse_scenario(read_file(kFolder / (name + ".yaml")), name));
      ADD_FAILURE() << name << " was accepted";
    } catch (const ConfigError& error) {
      int last_line = 0;
      for (const Diagnostic& diagnostic : error.diagnostics()) {
        EXPECT_GT(diagnostic.where.line, 0) << name;
        EXPECT_GT(diagnostic.where.column, 0) << name;
        EXPECT_GE(diagnostic.where.line, last_line) << name << ": not in the order of the file";
        last_line = diagnostic.where.line;
      }
    }
  }
}

}  // namespace
}  // namespace attnbench
