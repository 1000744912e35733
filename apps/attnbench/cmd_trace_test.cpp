// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "apps/attnbench/testing/command_line.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

/// Excerpts in each format, of this project's own making.
const std::string kTraces = ATTNBENCH_SOURCE_DIR "/lib/trace/testdata/";

TEST_F(CommandLine, trace_stats_reads_every_format_by_its_first_line) {
  for (const char* name : {"azure.csv", "burstgpt.csv", "mooncake.jsonl", "plain.csv"}) {
    EXPECT_EQ(run({"trace", "stats", (kTraces + name).c_str(), "--json", "-", "--strict"}), 0)
        << err_.str();
    const Json stats = Json::parse(out_.str());
    const std::string format = stats["format"];
    EXPECT_TRUE(std::string(name).starts_with(format));
    EXPECT_EQ(stats["requests"].get<int>() + stats["failed_requests"].get<int>(), 36) << name;
    EXPECT_THAT(err_.str(), HasSubstr("tokens of a request")) << "people read standard error";
  }
}

TEST_F(CommandLine, trace_tells_of_malformed_rows_and_exits_4_with_strict) {
  const std::string file = folder_ + "t.csv";
  std::ofstream(file) << "arrival_s,input_tokens,output_tokens\n0,8,8\nx,8,8\n";
  EXPECT_EQ(run({"trace", "stats", file.c_str()}), 0);
  EXPECT_THAT(err_.str(), HasSubstr("t.csv:3: arrival_s is 'x'"));
  EXPECT_EQ(run({"trace", "stats", file.c_str(), "--strict"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("t.csv:3: arrival_s is 'x'"));
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(run({"trace", "stat", file.c_str()}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'stats'?"));
}

}  // namespace
}  // namespace attnbench
