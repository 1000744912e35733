// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

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

TEST_F(CommandLine, trace_simulate_writes_a_row_for_each_step_and_counts_what_it_did) {
  const std::string log = kTraces + "mooncake.jsonl", steps = folder_ + "steps.csv";
  EXPECT_EQ(run({"trace", "simulate", log.c_str(), "--cache-tokens", "32k", "--draft-tokens", "3",
                 "--accept-rate", "60%", "--json", "-", "--steps", steps.c_str()}),
            0)
      << err_.str();
  const Json totals = Json::parse(out_.str());
  std::ifstream file(steps);
  int lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  EXPECT_EQ(totals["steps"], lines - 1);
  EXPECT_GT(totals["hit_tokens"], 0);
  EXPECT_EQ(run({"trace", "simulate", log.c_str(), "--no-chunked-prefill", "--json", "-"}), 0);
  EXPECT_EQ(Json::parse(out_.str())["mixed_steps"], 0);
  EXPECT_EQ(run({"trace", "simulate", log.c_str(), "--disaggregate", "decode", "--json", "-"}), 0);
  EXPECT_EQ(Json::parse(out_.str())["prefill_tokens"], 0);
}

TEST_F(CommandLine, trace_simulate_refuses_rules_that_no_engine_could_keep) {
  const std::string log = kTraces + "plain.csv";
  const auto refused = [&](std::vector<const char*> options, const char* why) {
    options.insert(options.begin(), {"trace", "simulate", log.c_str()});
    EXPECT_EQ(run(options), 4) << why;
    EXPECT_THAT(err_.str(), HasSubstr(why));
  };
  refused({"--token-budget", "4", "--draft-tokens", "4"}, "has no room for one decode of 5 tokens");
  refused({"--accept-rate", "1.5"}, "not between 0 and 1");
  refused({"--disaggregate", "decodes"}, "did you mean 'decode'?");
  refused({"--steps", log.c_str()}, "would overwrite the log");
  refused({"--steps", "-", "--json", "-"}, "--json and another output are both '-'");
}

TEST_F(CommandLine, trace_cases_writes_a_scenario_that_expand_takes) {
  const std::string log = kTraces + "mooncake.jsonl", scenario = folder_ + "served.yaml";
  EXPECT_EQ(run({"trace", "cases", log.c_str(), "--count", "3", "--model", "qwen3-8b", "-o",
                 scenario.c_str(), "--json", "-"}),
            0)
      << err_.str();
  const Json cases = Json::parse(out_.str());
  EXPECT_EQ(cases["cases"].size(), 3u);
  EXPECT_EQ(run({"expand", scenario.c_str()}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr(cases["cases"][0]["case"].get<std::string>()));
  EXPECT_THAT(out_.str(), HasSubstr("qwen3-8b"));
  EXPECT_EQ(run({"trace", "cases", log.c_str(), "--model", "qwen3-8", "-o", "-"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("--model: "));
  EXPECT_EQ(run({"trace", "cases", log.c_str(), "-o", log.c_str()}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("would overwrite the log"));
}

}  // namespace
}  // namespace attnbench
