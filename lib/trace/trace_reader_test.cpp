// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/trace_reader.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/trace/testing/trace_file.h"
#include "lib/trace/timestamp.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class TraceReader : public TraceFile {
 protected:
  std::string refusal(const std::string& text, const TraceOptions& options = {}) {
    try {
      static_cast<void>(read(text, options));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  }
  std::vector<std::uint32_t> blocks(const Trace& trace, std::size_t request) {
    const auto span = trace.blocks_of(trace.requests.at(request));
    return {span.begin(), span.end()};
  }
};

TEST_F(TraceReader, reads_azures_times_from_the_first_on) {
  const Trace trace = read(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-11-16 23:59:59.5000000,374,44\r\n"
      "2023-11-17 00:00:01.7500000,396,109\r\n");
  EXPECT_EQ(trace.format, "azure");
  EXPECT_EQ(trace.block_tokens, 0);
  ASSERT_EQ(trace.requests.size(), 2u);
  EXPECT_EQ(trace.requests[0].arrival_s, 0);
  EXPECT_EQ(trace.requests[1].arrival_s, 2.25);
  EXPECT_EQ(trace.requests[1].input_tokens, 396);
  EXPECT_EQ(trace.requests[1].output_tokens, 109);
}

TEST_F(TraceReader, takes_burstgpts_columns_by_name_and_leaves_out_requests_that_failed) {
  const Trace trace = read(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n"
      "45,GPT-4,\"1087\",0,1087,API log\n"
      "118.5,GPT-4,417,276,693,API log\n");
  EXPECT_EQ(trace.format, "burstgpt");
  ASSERT_EQ(trace.requests.size(), 2u);
  EXPECT_EQ(trace.unanswered, 1u);
  EXPECT_EQ(trace.faults.count, 0u);
  EXPECT_EQ(trace.requests[1].arrival_s, 113.5);
  EXPECT_EQ(trace.requests[1].input_tokens, 417);
  EXPECT_EQ(trace.requests[1].output_tokens, 276);
}

TEST_F(TraceReader, shares_whole_blocks_of_mooncake_that_begin_alike) {
  const Trace trace = read(
      R"({"timestamp": 0, "input_length": 1500, "output_length": 5, "hash_ids": [7, 8, 9]})"
      "\n"
      R"({"timestamp": 2500, "input_length": 1536, "output_length": 6, "hash_ids": [7, 8, 10]})"
      "\n\n"
      R"({"timestamp": 3000, "input_length": 1024, "output_length": 6, "hash_ids": [1, 8]})"
      "\n");
  EXPECT_EQ(trace.format, "mooncake");
  EXPECT_EQ(trace.block_tokens, 512);
  ASSERT_EQ(trace.requests.size(), 3u);
  EXPECT_EQ(trace.requests[1].arrival_s, 2.5);
  EXPECT_THAT(blocks(trace, 0), ElementsAre(0, 1)) << "the third block is no whole one";
  EXPECT_THAT(blocks(trace, 1), ElementsAre(0, 1, 2));
  EXPECT_THAT(blocks(trace, 2), ElementsAre(3, 4)) << "8 stands behind another block";
  EXPECT_EQ(trace.distinct_blocks, 5u);
}

TEST_F(TraceReader, shares_the_whole_pages_of_a_group_in_a_plain_csv) {
  const Trace trace = read(
      "arrival_s,input_tokens,output_tokens,prefix_group,prefix_tokens\n"
      "0,100,5,a,40\n"
      "1,100,5,,\n"
      "2,100,5,b,32\n"
      "3,100,5,a,16\n");
  EXPECT_EQ(trace.format, "plain");
  EXPECT_EQ(trace.block_tokens, 16);
  EXPECT_THAT(blocks(trace, 0), ElementsAre(0, 1));
  EXPECT_THAT(blocks(trace, 1), ElementsAre());
  EXPECT_THAT(blocks(trace, 2), ElementsAre(2, 3));
  EXPECT_THAT(blocks(trace, 3), ElementsAre(0));
}

TEST_F(TraceReader, puts_requests_in_order_of_arrival) {
  const Trace trace = read("arrival_s,input_tokens,output_tokens\n9,1,1\n4,2,1\n9,3,1\n");
  ASSERT_EQ(trace.requests.size(), 3u);
  EXPECT_EQ(trace.requests[0].input_tokens, 2);
  EXPECT_EQ(trace.requests[1].arrival_s, 5);
  EXPECT_EQ(trace.requests[1].input_tokens, 1) << "as the file has those that came at once";
}

TEST_F(TraceReader, says_file_line_and_reason_of_each_malformed_row_and_counts_all) {
  const Trace csv = read(
      "arrival_s,input_tokens,output_tokens,prefix_group,prefix_tokens\n"
      "0,100,5,,\n"
      "soon,100,5,,\n"
      "1,0,5,,\n"
      "1,100,5.5,,\n"
      "1,100\n"
      "1,100,5,,7\n"
      "1,100,5,a,101\n"
      "-1,100,5,,\n"
      "1,100,5,\"a,\n"
      "1,100,5,,,\n");
  EXPECT_EQ(csv.requests.size(), 1u);
  EXPECT_EQ(csv.faults.count, 9u);
  EXPECT_THAT(
      csv.faults.first,
      ElementsAre(EndsWith("t:3: arrival_s is 'soon', not seconds from 0 to 1e+10"),
                  EndsWith("t:4: input_tokens is '0', not a whole number from 1 to 16777216"),
                  EndsWith("t:5: output_tokens is '5.5', not a whole number from 0 to 16777216"),
                  EndsWith("t:6: fewer columns than the header has"),
                  EndsWith("t:7: prefix_tokens without a prefix_group")));
  const Trace json =
      read(R"({"timestamp": 0, "input_length": 10, "output_length": 5, "hash_ids": [1]})"
           "\n"
           R"({"timestamp": 0, "output_length": 5})"
           "\n"
           R"({"timestamp": 0, "input_length": -3, "output_length": 5})"
           "\n"
           R"({"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [1, 2, 3]})"
           "\n"
           R"({"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [1, "2"]})"
           "\n"
           "{\"timestamp\": 0, \n");
  EXPECT_EQ(json.requests.size(), 1u);
  EXPECT_THAT(json.faults.first,
              ElementsAre(EndsWith("t:2: input_length is missing"),
                          EndsWith("t:3: input_length is -3, not a whole number from 1 to "
                                   "16777216"),
                          EndsWith("t:4: hash_ids has 3 blocks, and an input_length of 600 has 2"),
                          EndsWith("t:5: a block of hash_ids is no whole number from 0 on"),
                          HasSubstr("t:6: ")));
}

TEST_F(TraceReader, ends_at_a_malformed_row_with_strict) {
  const std::string text = "arrival_s,input_tokens,output_tokens\n0,1,1\n0,1,\n";
  EXPECT_EQ(read(text).requests.size(), 1u);
  const std::string message = refusal(text, {"", true});
  EXPECT_THAT(message, HasSubstr("t:3: output_tokens is ''"));
  EXPECT_THAT(message, HasSubstr("--strict: 1 of 2 rows are malformed"));
}

TEST_F(TraceReader, names_the_known_first_lines_to_a_file_of_another_kind) {
  const std::string message = refusal("when,what\n1,2\n");
  EXPECT_THAT(message, HasSubstr("t:1: a trace of no known kind begins with 'when,what'"));
  EXPECT_THAT(message, HasSubstr("azure     TIMESTAMP,ContextTokens,GeneratedTokens"));
  EXPECT_THAT(refusal("when,what\n1,2\n", {"plain", false}),
              HasSubstr("column 'arrival_s' is missing, which --format plain needs"));
  EXPECT_THAT(refusal("", {"azur", false}), HasSubstr("did you mean 'azure'?"));
  EXPECT_THAT(refusal("arrival_s,input_tokens,output_tokens\n"), HasSubstr("no request in it"));
}

TEST_F(TraceReader, waits_for_no_writer_of_a_pipe_and_says_what_cannot_be_read) {
  const auto reason = [](const std::string& path) -> std::string {
    try {
      static_cast<void>(read_trace(path, {}));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "read";
  };
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(reason(path_), HasSubstr("t is no regular file"));
  EXPECT_THAT(reason(folder_.file("")), HasSubstr("is no regular file"));
  EXPECT_THAT(reason(folder_.file("missing")), HasSubstr("missing: No such file or directory"));
}

TEST(Timestamp, takes_dates_with_fractions_and_offsets_and_nothing_else) {
  EXPECT_EQ(timestamp_s("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(timestamp_s("1970-01-02T00:01:01.5Z"), 86461.5);
  EXPECT_EQ(timestamp_s("2024-05-10 02:00:00.25+02:00"), timestamp_s("2024-05-10 00:00:00.25"));
  for (const char* text :
       {"", "12", "2023-02-29 00:00:00", "2023-01-01 24:00:00", "2023-01-01 00:60:00",
        "2023-01-01 00:00:61", "2023-01-01 00:00:-1", "2023-01-01 00:00:1e1", "2023-1-01 00:00:00",
        "2023-01-01 00:00:00+2", "2023-01-01 00:00:00 x", "2023-01-01"}) {
    EXPECT_FALSE(timestamp_s(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace attnbench
