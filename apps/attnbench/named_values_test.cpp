// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/named_values.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "lib/base/error.h"

namespace attnbench {
namespace {

class ScenarioFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(installed_);
    std::ofstream(installed_ + "/decode.yaml") << "";
  }
  void TearDown() override { std::filesystem::remove_all(installed_); }
  std::string installed_ = testing::TempDir() + "scenario_files_test_" + std::to_string(getpid());
};

TEST_F(ScenarioFiles, are_found_by_name_where_they_were_installed) {
  EXPECT_EQ(find_scenario("decode", installed_), installed_ + "/decode.yaml");
  EXPECT_EQ(find_scenario("decode.yaml", installed_), installed_ + "/decode.yaml");
}

TEST_F(ScenarioFiles, are_taken_as_given_where_they_exist_or_have_a_folder) {
  const std::string here = installed_ + "/../" + std::to_string(getpid()) + ".yaml";
  std::ofstream(here) << "";
  EXPECT_EQ(find_scenario(here, installed_), here);
  EXPECT_EQ(find_scenario("./decode.yaml", installed_), "./decode.yaml");
  EXPECT_EQ(find_scenario("-", installed_), "-");
  EXPECT_EQ(find_scenario("mla", installed_), "mla");
  EXPECT_EQ(find_scenario("", installed_), "");
  std::filesystem::remove(here);
}

TEST_F(ScenarioFiles, lie_beside_the_folder_of_the_program) {
  EXPECT_TRUE(installed_scenarios().ends_with("/share/attnbench/scenarios"));
  EXPECT_EQ(installed_scenarios().find(".."), std::string::npos);
}

/// What the reader of a command line with this word is told.
std::string refusal_of(const std::string& word) {
  try {
    static_cast<void>(read_scenario(word, {}));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST_F(ScenarioFiles, that_are_a_loop_of_links_are_not_called_missing) {
  const std::string loop = installed_ + "/loop.yaml";
  std::filesystem::create_symlink(loop, loop);
  EXPECT_EQ(refusal_of(loop),
            "error: cannot read " + loop + ": Too many levels of symbolic links\n");
}

TEST_F(ScenarioFiles, that_are_missing_are_refused_with_the_nearest_name) {
  EXPECT_EQ(refusal_of(installed_ + "/decod.yaml"),
            "error: cannot read " + installed_ +
                "/decod.yaml: there is no such file\n   did you mean '" + installed_ +
                "/decode.yaml'?\n");
  EXPECT_EQ(refusal_of(installed_ + "/decode"),
            "error: cannot read " + installed_ +
                "/decode: there is no such file\n   did you mean '" + installed_ +
                "/decode.yaml'?\n");
  EXPECT_EQ(refusal_of(installed_ + "/other.yaml"),
            "error: cannot read " + installed_ + "/other.yaml: there is no such file\n");
  EXPECT_EQ(refusal_of("/nowhere/at_all.yaml"),
            "error: cannot read /nowhere/at_all.yaml: there is no such file\n");
}

}  // namespace
}  // namespace attnbench
