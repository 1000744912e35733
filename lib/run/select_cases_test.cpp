// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/run/driver.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

TEST(SelectCases, takes_ids_and_globs_in_file_order) {
  Scenario scenario;
  scenario.path = "s.yaml";
  for (const char* id : {"mla/ps1", "mla/ps64", "tree/ps1"}) {
    scenario.cases.emplace_back();
    scenario.cases.back().id = id;
  }
  const auto ids = [&](std::vector<std::string> patterns) {
    std::string text;
    for (const Case* c : select_cases(scenario, {std::move(patterns), {}})) text += c->id + " ";
    return text;
  };
  EXPECT_EQ(ids({}), "mla/ps1 mla/ps64 tree/ps1 ");
  EXPECT_EQ(ids({"*/ps1"}), "mla/ps1 tree/ps1 ");
  EXPECT_EQ(ids({"tree*", "mla/ps64"}), "mla/ps64 tree/ps1 ");
  EXPECT_EQ(ids({"mla/ps??"}), "mla/ps64 ");
  EXPECT_EQ(ids({"*a*p*4"}), "mla/ps64 ");
  try {
    ids({"mla/ps65"});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no case of s.yaml matches 'mla/ps65'"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'mla/ps64'?"));
    EXPECT_THAT(error.what(), HasSubstr("tree/ps1"));
  }
}

}  // namespace
}  // namespace attnbench
