// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/attnbench/testing/command_line.h"
#include "lib/gate/testing/measured_run.h"
#include "lib/result/sinks.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

class BaselineCommandLine : public CommandLine {
 protected:
  int update(const std::string& result, const std::string& reason,
             const std::string& more = "--folder") {
    std::vector<std::string> words = {"update", result, "--reason", reason, more};
    if (more != "--folder") words.emplace_back("--folder");
    words.push_back(kept_);
    return run("baseline", words);
  }
  std::string result(double us) const {
    const std::string path = folder_ + "r.json";
    std::ofstream file(path);
    write_json(measured_run({measured_cell("decode", "splitkv", us)}), file);
    return path;
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream file(kept_ + "/nvidia-h200/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string kept_ = folder_ + "kept";
};

TEST_F(BaselineCommandLine, shows_what_an_update_changes_and_keeps_why) {
  ASSERT_EQ(update(result(100), "the first one"), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("nvidia-h200/serving.json: new, 1 cells"));
  ASSERT_EQ(update(result(110), "the new merge\nkernel"), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("100 µs → 110 µs"));
  EXPECT_THAT(out_.str(), HasSubstr("REGRESSED"));
  EXPECT_THAT(text_of("history.md"), HasSubstr("): the first one\n"));
  EXPECT_THAT(text_of("history.md"), HasSubstr("1 regressed"));
  EXPECT_THAT(text_of("history.md"), testing::Not(HasSubstr("merge\nkernel")));
  ASSERT_EQ(run("baseline", {"list", "--folder", kept_}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("serving.json  1 cells"));
}

TEST_F(BaselineCommandLine, writes_nothing_in_a_dry_run_and_nothing_without_a_reason) {
  EXPECT_EQ(update(result(100), "why", "--dry-run"), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("nothing was written"));
  EXPECT_EQ(update(result(100), "  "), 4);
  EXPECT_THAT(err_.str(), HasSubstr("--reason"));
  EXPECT_FALSE(std::filesystem::exists(kept_));
}

TEST_F(BaselineCommandLine, is_what_a_new_result_is_compared_with) {
  EXPECT_EQ(run("compare", {result(100), "--baseline", kept_}), 5);
  EXPECT_THAT(err_.str(), HasSubstr("there is no baseline"));
  ASSERT_EQ(update(result(100), "the first one"), 0);
  EXPECT_EQ(run("compare", {result(100), "--baseline", kept_, "--gate"}), 0) << out_.str();
  EXPECT_EQ(run("compare", {result(120), "--baseline", kept_, "--gate"}), 3);
  EXPECT_THAT(out_.str(), HasSubstr("SUSPECT"));
  EXPECT_EQ(run("compare", {result(120), result(120), "--baseline", kept_}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("takes one result"));
}

}  // namespace
}  // namespace attnbench
