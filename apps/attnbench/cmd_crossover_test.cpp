// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/attnbench/testing/command_line.h"

namespace attnbench {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class CrossoverCommandLine : public CommandLine {
 protected:
  /// With other values for some of the options: name, value, name, value ….
  int crossover(const std::vector<const char*>& changes = {}) {
    std::vector<const char*> words = {"crossover", scenario_.c_str()};
    std::vector<std::pair<const char*, const char*>> options = {{"--case", "tiny"},
                                                                {"--axis", "batch[0].kv_len"},
                                                                {"--from", "8"},
                                                                {"--to", "64"},
                                                                {"--base", "torch_native"},
                                                                {"--new", "cpu_flash"},
                                                                {"--points", "2"},
                                                                {"--rounds", "8"}};
    for (std::size_t i = 0; i + 1 < changes.size(); i += 2) {
      for (auto& [name, value] : options) {
        if (std::string(name) == changes[i]) value = changes[i + 1];
      }
    }
    for (const auto& [name, value] : options) words.insert(words.end(), {name, value});
    words.push_back("--quick");
    return run(words);
  }
};

TEST_F(CrossoverCommandLine, measures_both_backends_at_values_of_the_axis) {
  EXPECT_EQ(crossover(), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("tiny along batch[0].kv_len"));
  EXPECT_THAT(out_.str(), ContainsRegex("\n +8  +[0-9.]+ [^ ]+s  +[0-9.]+ [^ ]+s  +[0-9.]+ +\\("));
  EXPECT_THAT(out_.str(), ContainsRegex("\n +64  +[0-9.]+ [^ ]+s"));
  EXPECT_THAT(out_.str(), HasSubstr("cpu_flash / torch_native\n"));
  EXPECT_THAT(out_.str(), HasSubstr("crossover"));
}

TEST_F(CrossoverCommandLine, names_a_backend_that_does_not_run_the_case) {
  EXPECT_EQ(crossover({"--new", "elsewhere"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("    elsewhere: unsupported: not on this machine\n"));
  EXPECT_THAT(out_.str(), HasSubstr("ended at 8, which has no ratio"));
}

TEST_F(CrossoverCommandLine, exits_4_on_what_it_cannot_search) {
  const auto refused = [&](const std::vector<const char*>& changes, const char* message) {
    EXPECT_EQ(crossover(changes), 4);
    EXPECT_THAT(err_.str(), HasSubstr(message));
  };
  refused({"--axis", "batch[0].kvlen"}, "did you mean 'kv_len'?");
  refused({"--axis", "batch[1].kv_len"}, "no batch entry for batch[1].kv_len");
  refused({"--case", "tinny"}, "did you mean 'tiny'?");
  refused({"--new", "cpu_flsh"}, "cpu_flash");
  refused({"--new", "torch_native"}, "both 'torch_native'");
  refused({"--from", "64"}, "the smaller end comes first");
  refused({"--rounds", "7"}, "takes 8 (--rounds)");
  EXPECT_EQ(run({"crossover", scenario_.c_str()}), 4);
}

}  // namespace
}  // namespace attnbench
