// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/trace_stats.h"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>
#include <string>

#include "lib/trace/stats_report.h"
#include "lib/trace/testing/trace_file.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

using TraceStatistics = TraceFile;

TEST_F(TraceStatistics, say_that_evenly_spaced_requests_have_no_bursts) {
  const Trace even = read("arrival_s,input_tokens,output_tokens\n0,1,1\n1,1,1\n2,1,1\n3,1,1\n");
  const TraceStats stats = trace_stats(even);
  EXPECT_EQ(stats.gap_variation, 0);
  EXPECT_EQ(stats.span_s, 3);
  EXPECT_DOUBLE_EQ(stats.requests_per_s, 4.0 / 3);
  // Gaps 0, 0, 3: mean 1, standard deviation sqrt((1 + 1 + 4) / 3).
  const Trace burst = read("arrival_s,input_tokens,output_tokens\n0,1,1\n0,1,1\n0,1,1\n3,1,1\n");
  EXPECT_DOUBLE_EQ(trace_stats(burst).gap_variation, std::sqrt(2.0));
}

TEST_F(TraceStatistics, count_the_longest_prefix_that_came_before_but_never_a_last_token) {
  const Trace trace =
      read(R"({"timestamp": 0, "input_length": 1024, "output_length": 5, "hash_ids": [1, 2]})"
           "\n"
           R"({"timestamp": 1, "input_length": 1024, "output_length": 5, "hash_ids": [1, 2]})"
           "\n"
           R"({"timestamp": 2, "input_length": 1600, "output_length": 5, "hash_ids": [1, 3, 4, 5]})"
           "\n");
  const TraceStats stats = trace_stats(trace);
  EXPECT_EQ(stats.reused_tokens, 1023 + 512);
  EXPECT_EQ(stats.reused.most, 1023);
  EXPECT_EQ(stats.input_tokens, 3648);
}

TEST_F(TraceStatistics, put_each_length_into_the_smallest_power_of_two_that_holds_it) {
  const TraceStats stats =
      trace_stats(read("arrival_s,input_tokens,output_tokens\n0,64,5\n1,65,8\n2,9,8\n"));
  ASSERT_EQ(stats.lengths.size(), 5u);
  EXPECT_EQ(stats.lengths[0].up_to, 8);
  EXPECT_EQ(stats.lengths[0].outputs, 3u);
  EXPECT_EQ(stats.lengths[1].inputs, 1u) << "9 is above 8";
  EXPECT_EQ(stats.lengths[3].up_to, 64);
  EXPECT_EQ(stats.lengths[3].inputs, 1u);
  EXPECT_EQ(stats.lengths[4].inputs, 1u);
}

TEST_F(TraceStatistics, are_written_for_people_and_for_programs) {
  const Trace trace =
      read("arrival_s,input_tokens,output_tokens\n0,100,10\n1,x,1\n2,300,20\n3,9,0\n");
  const TraceStats stats = trace_stats(trace);
  std::ostringstream text, json, left_out;
  write_stats_text(trace, stats, text);
  EXPECT_THAT(text.str(), HasSubstr("plain · 2 requests in 2 s · 1.00 requests/s"));
  EXPECT_THAT(text.str(), HasSubstr("400 prompt tokens · 30 answered tokens\n"));
  write_stats_json(trace, stats, json);
  const Json read_again = Json::parse(json.str());
  EXPECT_EQ(read_again["input"]["p50"], 200);
  EXPECT_EQ(read_again["malformed_rows"], 1);
  EXPECT_EQ(read_again["failed_requests"], 1);
  write_left_out(trace, left_out);
  EXPECT_THAT(left_out.str(), HasSubstr("t:3: input_tokens is 'x'"));
  EXPECT_THAT(left_out.str(), HasSubstr("1 malformed row left out; --strict ends there"));
  EXPECT_THAT(left_out.str(), HasSubstr("1 failed request left out"));
}

}  // namespace
}  // namespace attnbench
