// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "apps/attnbench/testing/command_line.h"
#include "lib/gate/testing/measured_run.h"
#include "lib/result/sinks.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;

class WatchCommandLine : public CommandLine {
 protected:
  /// Results of twelve days, the last six 5 % slower.
  void SetUp() override {
    CommandLine::SetUp();
    for (int day = 1; day <= 12; ++day) {
      const std::string number = (day < 10 ? "0" : "") + std::to_string(day);
      RunResult run = measured_run({measured_cell("decode/ps16", "splitkv", day < 7 ? 100 : 105)});
      run.environment.started_utc = "2026-03-" + number + "T01:00:00Z";
      run.environment.git_sha = "c0ffe" + number;
      files_.push_back(folder_ + number + ".json");
      std::ofstream file(files_.back());
      write_json(run, file);
    }
  }

  int watch(const std::vector<const char*>& options = {}) {
    std::vector<const char*> words = {"watch"};
    for (const std::string& file : files_) words.push_back(file.c_str());
    words.insert(words.end(), options.begin(), options.end());
    return run(words);
  }

  std::vector<std::string> files_;
};

TEST_F(WatchCommandLine, names_the_commit_of_a_change) {
  EXPECT_EQ(watch(), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("+5.0 % at c0ffe07, 2026-03-07"));
  EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b")));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(WatchCommandLine, writes_json_and_leaves_standard_output_to_it) {
  const std::string file = folder_ + "watch.json.out";
  EXPECT_EQ(watch({"--json", file.c_str()}), 0) << err_.str();
  std::ifstream text(file);
  EXPECT_EQ(Json::parse(text)["series"][0]["changes"][0]["run"], 6);
  EXPECT_EQ(watch({"--json", "-", "--metric", "roofline"}), 0);
  EXPECT_EQ(Json::parse(out_.str())["metric"], "roofline");
  EXPECT_THAT(err_.str(), HasSubstr("12 runs"));
}

TEST_F(WatchCommandLine, exits_4_on_what_matches_nothing_or_cannot_be_read) {
  EXPECT_EQ(watch({"--case", "decod"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'decode/ps16'?"));
  EXPECT_EQ(watch({"--backend", "paged_fa"}), 4);
  EXPECT_EQ(watch({"--metric", "median"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("'median_us'"));
  EXPECT_EQ(watch({"--json", files_[3].c_str()}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("would overwrite what is read"));
  EXPECT_EQ(run({"watch"}), 4);
  EXPECT_EQ(run({"watch", (folder_ + "none.json").c_str()}), 4);
}

}  // namespace
}  // namespace attnbench
