// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/model/model_geometry.h"
#include "lib/scenario/scenario.h"
#include "lib/scenario/testing/cases.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;
const fs::path kSource = ATTNBENCH_SOURCE_DIR;

std::string path_of(const std::string& scenario) {
  return (kSource / "scenarios" / (scenario + ".yaml")).string();
}

std::vector<std::string> shipped_scenarios() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kSource / "scenarios")) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::int64_t> kv_lens(const Scenario& scenario) {
  std::vector<std::int64_t> lengths;
  for (const Case& c : scenario.cases) {
    for (const Request& request : c.requests) lengths.push_back(request.kv_len);
  }
  return lengths;
}

class ShippedScenario : public testing::TestWithParam<std::string> {};

TEST_P(ShippedScenario, loads_into_cases_with_ids_of_their_own) {
  const Scenario scenario = load_scenario(path_of(GetParam()));
  EXPECT_FALSE(scenario.cases.empty());
  EXPECT_FALSE(scenario.description.empty());
  std::set<std::string> seen;
  for (const std::string& id : case_ids(scenario)) EXPECT_TRUE(seen.insert(id).second) << id;
}

TEST_P(ShippedScenario, has_the_same_ids_under_any_seed) {
  const std::string path = path_of(GetParam());
  EXPECT_EQ(case_ids(load_scenario(path, 1)), case_ids(load_scenario(path, 2)));
}

INSTANTIATE_TEST_SUITE_P(Files, ShippedScenario, testing::ValuesIn(shipped_scenarios()),
                         [](const auto& file) { return file.param; });

/// Records, baselines and repro lines name cases by id: a change here orphans them.
TEST(ShippedScenarios, keep_the_recorded_case_ids) {
  std::vector<std::string> found;
  for (const std::string& name : shipped_scenarios()) {
    for (const std::string& id : case_ids(load_scenario(path_of(name))))
      found.push_back(name + " " + id);
  }
  std::vector<std::string> recorded;
  std::ifstream file(kSource / "lib/scenario/testdata/shipped_case_ids.txt");
  for (std::string line; std::getline(file, line);) recorded.push_back(line);
  EXPECT_EQ(found, recorded);
}

/// A preset that joins belongs in both.
TEST(ShippedScenarios, of_every_model_have_all_layers_that_can_be_run_of_each_preset) {
  for (const char* name : {"every_model", "ci/every_model"}) {
    std::map<std::string, std::set<std::string>> found, wanted;
    for (const Case& c : load_scenario(path_of(name)).cases) {
      found[c.model].insert(c.model_layers.kind);
      EXPECT_GT(c.model_layers.layers, 0) << c.id;
    }
    for (const std::string& model : model_names()) {
      for (const LayerKind kind : runnable_kinds(*find_model(model))) {
        wanted[model].emplace(to_string(kind));
      }
    }
    EXPECT_EQ(found, wanted) << name;
  }
}

TEST(LoadScenario, lets_the_caller_override_the_seed_of_the_file) {
  const Scenario own = load_scenario(path_of("quickstart"));
  const Scenario other = load_scenario(path_of("quickstart"), own.seed + 1);
  EXPECT_EQ(other.seed, own.seed + 1);
  EXPECT_EQ(other.sha256, own.sha256);
  EXPECT_NE(kv_lens(other), kv_lens(own));
  EXPECT_EQ(kv_lens(load_scenario(path_of("quickstart"), own.seed)), kv_lens(own));
  for (std::size_t i = 0; i < own.cases.size(); ++i) {
    EXPECT_NE(other.cases[i].seed, own.cases[i].seed) << own.cases[i].id;
  }
}

TEST(LoadScenario, says_why_a_file_cannot_be_read) {
  try {
    static_cast<void>(load_scenario("no/such/file.yaml"));
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot read no/such/file.yaml: No such file"));
  }
  EXPECT_THROW(static_cast<void>(load_scenario("/")), ConfigError);
}

TEST(LoadScenario, refuses_by_kind_and_size_what_is_no_scenario) {
  const fs::path folder =
      fs::temp_directory_path() / ("attnbench-load-" + std::to_string(getpid()));
  fs::create_directory(folder);
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  std::ofstream(folder / "large.yaml") << "mixes: {}";
  fs::resize_file(folder / "large.yaml", std::uintmax_t{1} << 34);  // 16 GiB, none of it on disk
  const auto message_for = [](const std::string& path) -> std::string {
    try {
      static_cast<void>(load_scenario(path));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message_for("/dev/zero"), HasSubstr("/dev/zero is a device"));
  EXPECT_THAT(message_for(folder), HasSubstr(" is a folder"));
  EXPECT_THAT(message_for(folder / "pipe"), HasSubstr("pipe is a pipe"));
  EXPECT_THAT(message_for(folder / "large.yaml"), HasSubstr("more than 16777216 bytes"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace attnbench
