// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/result_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "lib/base/error.h"
#include "lib/result/journal.h"
#include "lib/result/sinks.h"
#include "lib/result/testing/sample_run.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string file_text(const RunResult& run) {
  std::ostringstream out;
  write_json(run, out);
  return out.str();
}

class ResultReader : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }

  /// The message about a file that differs from the sample's.
  [[nodiscard]] std::string message_of(const std::string& text) const {
    write(text);
    try {
      static_cast<void>(read_results(path_));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "it was read";
  }

  [[nodiscard]] std::string message_after(const std::function<void(Json&)>& edit) const {
    Json json = Json::parse(file_text(sample_run()));
    edit(json);
    return message_of(json.dump(2));
  }

  std::string path_ = testing::TempDir() + "result_reader_test.json";
};

TEST_F(ResultReader, reads_back_every_bit_that_was_written) {
  const std::string text = file_text(sample_run());
  write(text);
  EXPECT_EQ(file_text(read_results(path_)), text);
}

TEST_F(ResultReader, reads_what_an_editor_has_laid_out_anew) {
  const std::string text = file_text(sample_run());
  write(Json::parse(text).dump(-1));
  EXPECT_EQ(file_text(read_results(path_)), text);
}

TEST_F(ResultReader, reads_a_file_that_lacks_what_was_not_recorded) {
  Json json = Json::parse(file_text(sample_run()));
  json["schema_version"] = "1.7.0";
  for (Json& record : json["records"]) {
    if (!record["time_us"].is_null()) record["time_us"].erase("blocks");
    for (const char* key : {"fp8", "flops", "sweep_numbers", "others"}) record.erase(key);
    record["layer"].erase("temperature_len");
  }
  json["environment"]["device"].erase("driver");
  for (Json& source : json["scenarios"]) source.erase("options");
  write(json.dump());
  const Record found = read_results(path_).records.at(0), written = sample_run().records[0];
  EXPECT_EQ(found.timing.median_us, written.timing.median_us);
  EXPECT_EQ(found.cost.flops, 0);
  EXPECT_FALSE(found.others.known());
}

TEST_F(ResultReader, names_the_file_that_is_not_there) {
  EXPECT_THAT(
      [&] { static_cast<void>(read_results(path_)); },
      testing::ThrowsMessage<ConfigError>(AllOf(HasSubstr(path_), HasSubstr("No such file"))));
}

TEST_F(ResultReader, says_of_a_file_that_was_cut_off_where_it_ends) {
  const std::string text = file_text(sample_run());
  for (const std::size_t kept : {text.size() / 3, text.size() / 2, text.size() - 3}) {
    EXPECT_THAT(message_of(text.substr(0, kept)), HasSubstr("cut off: the file ends in the middle"))
        << kept;
  }
  EXPECT_THAT(message_of(""), HasSubstr("empty"));
}

TEST_F(ResultReader, refuses_what_attnbench_did_not_write) {
  EXPECT_THAT(message_of("[1, 2]"), HasSubstr("it must begin with {"));
  EXPECT_THAT(message_of("{\"a\": 1}"), HasSubstr("no results of attnbench: it has 'a'"));
  EXPECT_THAT(message_of("{\"wall_s\": 1}"),
              HasSubstr("no results of attnbench: schema_version is missing"));
  EXPECT_THAT(message_of("{\"wall_s\": 1,\n x}"), HasSubstr("no JSON: line 2, column 2"));
  EXPECT_THAT(message_of("name,us\r\n"), HasSubstr("no JSON"));
  EXPECT_THAT(message_of(std::string("\x7f"
                                     "ELF\0\1",
                                     6)),
              HasSubstr("no JSON"));
}

TEST_F(ResultReader, says_of_a_csv_which_file_it_takes_instead) {
  std::ostringstream csv;
  write_csv(sample_run(), csv);
  EXPECT_THAT(message_of(csv.str()), HasSubstr(path_ + ": is CSV,"));
  EXPECT_THAT(message_of(csv.str()), HasSubstr("the JSON of `attnbench run --json FILE`"));
}

TEST_F(ResultReader, tells_a_newer_schema_from_none) {
  for (const char* version : {"2.0.0", "11.4.0"}) {
    Json json = Json::parse(file_text(sample_run()));
    json["schema_version"] = version;
    write(json.dump(2));
    EXPECT_THAT(
        [&] { static_cast<void>(read_results(path_)); },
        testing::ThrowsMessage<EnvironmentError>(AllOf(
            HasSubstr(path_), HasSubstr(fmt::format("a newer attnbench (schema {})", version)))));
  }
  EXPECT_THAT(message_after([](Json& json) { json["schema_version"] = 7; }),
              HasSubstr("its schema_version is 7"));
  EXPECT_THAT(message_after([](Json& json) { json["schema_version"] = "0.9.0"; }),
              HasSubstr("its schema_version is 0.9.0"));
}

TEST_F(ResultReader, names_the_record_and_the_field_that_a_hand_has_edited) {
  const auto with = [&](const char* path, Json value) {
    return message_after(
        [&](Json& json) { json["records"][1][Json::json_pointer(path)] = std::move(value); });
  };
  EXPECT_THAT(with("/verdict", "fine"), HasSubstr("records[1]: verdict: unknown word 'fine'"));
  EXPECT_THAT(with("/verdict", nullptr), HasSubstr("records[1]: verdict is null"));
  EXPECT_THAT(with("/requests", 1.5), HasSubstr("records[1]: requests: '1.5' is not a number"));
  EXPECT_THAT(with("/requests", nullptr), HasSubstr("records[1]: requests is null"));
  EXPECT_THAT(with("/time_us/medain", 1), HasSubstr("unknown field 'time_us/medain'; did you mean "
                                                    "'time_us/median'?"));
  EXPECT_THAT(with("/time_us/blocks", {{1, "x"}}), HasSubstr("is not [round, microseconds]"));
  EXPECT_THAT(with("/kv_cache", 3), HasSubstr("kv_cache is no object"));
  EXPECT_THAT(message_after([](Json& json) { json["records"][1].erase("verdict"); }),
              HasSubstr("records[1]: verdict is missing"));
  EXPECT_THAT(message_after([](Json& json) { json["records"][1] = 5; }),
              HasSubstr("records[1] is no object"));
  EXPECT_THAT(message_after([](Json& json) { json["environment"]["threads"] = "two"; }),
              HasSubstr("environment.threads is"));
  EXPECT_THAT(message_after([](Json& json) { json["scenarios"][0]["seed"] = -1; }),
              HasSubstr("scenarios[0].seed"));
  EXPECT_THAT(message_after([](Json& json) { json["devices"][0].erase("ceilings"); }),
              HasSubstr("devices[0].ceilings is missing"));
}

TEST_F(ResultReader, refuses_times_that_no_run_has) {
  const auto message_with = [&](const char* field, double us) {
    return message_after([&](Json& json) { json["records"][0]["time_us"][field] = us; });
  };
  EXPECT_THAT(message_with("median", -3.0), HasSubstr("records[0] has a time of -3 us"));
  EXPECT_THAT(message_with("lo", 1e9), HasSubstr("records[0] has an interval from"));
  EXPECT_THAT(message_with("median", 1e9), HasSubstr("outside of its interval"));
}

TEST_F(ResultReader, refuses_a_cell_that_stands_there_twice) {
  EXPECT_THAT(message_after([](Json& json) { json["records"].push_back(json["records"][0]); }),
              HasSubstr("records[0] and records["));
}

TEST_F(ResultReader, reads_a_journal_without_the_line_that_was_cut_off) {
  const RunResult run = sample_run();
  {
    Journal journal(path_);
    journal.start(run);
    for (const Record& record : run.records) journal.add(record);
  }
  EXPECT_EQ(read_results(path_).records.size(), run.records.size());
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 5);
  EXPECT_EQ(read_results(path_).records.size(), run.records.size() - 1);
  Journal(path_).add(run.records.back());  // a run that goes on
  EXPECT_EQ(read_results(path_).records.size(), run.records.size());
}

TEST_F(ResultReader, keeps_what_the_journal_of_a_run_says_of_it) {
  RunResult run = sample_run();
  {
    Journal journal(path_);
    journal.start(run);
    for (const Record& record : run.records) journal.add(record);
    journal.start(run);  // as the run that goes on does
  }
  const RunResult found = read_results(path_);
  run.wall_s *= 2;
  add(run.spent, run.spent);
  EXPECT_EQ(file_text(found), file_text(run));
}

TEST_F(ResultReader, names_the_line_of_a_journal_that_a_hand_has_edited) {
  {
    Journal journal(path_);
    journal.start(sample_run());
    journal.add(sample_run().records[0]);
  }
  std::ifstream file(path_);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  text.replace(text.find("\"passed\""), 8, "\"fine\"");
  EXPECT_THAT(message_of(text), StartsWith(path_ + ":2:1: error: verdict: unknown word 'fine'"));
  EXPECT_THAT(message_of(text.substr(0, text.find('\n') + 1) + "{\"recrod\": 1}\n"),
              HasSubstr(":2:1: error: no line of a journal: 'recrod'"));
  EXPECT_THAT(message_of(text.substr(0, text.find('\n') + 1) + "{\"a\": 1, \"b\": 2}\n"),
              HasSubstr(":2:1: error: no line of a journal"));
}

}  // namespace
}  // namespace attnbench
