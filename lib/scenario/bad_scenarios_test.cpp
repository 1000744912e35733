// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;

/// A scenario that is wrong, and what its author reads. A file of the corpus holds many, one after
/// another:
///
///   #### name
///   the scenario's lines
///   #### is refused with
///   the message's lines
struct Refusal {
  std::string name, scenario, message;

  friend void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }
};

std::vector<Refusal> read_corpus(const fs::path& path) {
  constexpr std::string_view kMarker = "#### ";
  std::vector<Refusal> corpus;
  std::string* part = nullptr;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (line == "#### is refused with" && part != nullptr && part == &corpus.back().scenario) {
      part = &corpus.back().message;
    } else if (line.starts_with(kMarker)) {
      corpus.push_back({line.substr(kMarker.size()), "", ""});
      part = &corpus.back().scenario;
    } else if (part != nullptr) {
      *part += line + '\n';
    } else {
      throw std::runtime_error(path.string() + " does not begin with '#### name'");
    }
  }
  return corpus;
}

std::vector<Refusal> all_refusals() {
  std::vector<Refusal> all;
  const fs::path folder = fs::path(ATTNBENCH_SOURCE_DIR) / "lib/scenario/testdata/bad";
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::vector<Refusal> corpus = read_corpus(entry.path());
    all.insert(all.end(), corpus.begin(), corpus.end());
  }
  std::ranges::sort(all, {}, &Refusal::name);
  return all;
}

/// The file goes by its name alone, so that the text is the same everywhere.
std::string message_for(const Refusal& refusal) {
  try {
    static_cast<void>(parse_scenario(refusal.scenario, refusal.name + ".yaml"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted\n";
}

class BadScenario : public testing::TestWithParam<Refusal> {};

TEST_P(BadScenario, is_refused_with_the_recorded_message) {
  EXPECT_EQ(message_for(GetParam()), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Corpus, BadScenario, testing::ValuesIn(all_refusals()),
                         [](const auto& refusal) { return refusal.param.name; });

TEST(BadScenarios, number_at_least_sixty) { EXPECT_GE(all_refusals().size(), 60u); }

TEST(BadScenarios, each_name_a_line_unless_the_whole_file_is_wrong) {
  for (const Refusal& refusal : all_refusals()) {
    if (refusal.name == "empty_file" || refusal.name == "only_a_comment") continue;
    try {
      static_cast<void>(parse_scenario(refusal.scenario, refusal.name));
      ADD_FAILURE() << refusal.name << " was accepted";
    } catch (const ConfigError& error) {
      int last_line = 0;
      for (const Diagnostic& diagnostic : error.diagnostics()) {
        EXPECT_GT(diagnostic.where.line, 0) << refusal.name;
        EXPECT_GT(diagnostic.where.column, 0) << refusal.name;
        EXPECT_GE(diagnostic.where.line, last_line) << refusal.name << ": not in the file's order";
        last_line = diagnostic.where.line;
      }
    }
  }
}

}  // namespace
}  // namespace attnbench
