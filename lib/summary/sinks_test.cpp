// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/sinks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "lib/measure/statistics.h"
#include "lib/result/csv_columns.h"
#include "lib/result/record_text.h"
#include "lib/result/testing/sample_run.h"
#include "lib/summary/markdown_sink.h"

namespace attnbench {
namespace {

using Json = nlohmann::json;

Json json_of(const RunResult& run) {
  std::ostringstream out;
  write_json(run, out);
  return Json::parse(out.str());
}

std::map<std::string, std::string> csv_row_of(const Record& record) {
  std::map<std::string, std::string> row;
  for (const RecordField* column : csv_columns()) row[column->column] = csv_text(*column, record);
  return row;
}

/// What the CSV spells for a JSON value; the two formats differ in null only.
bool agree(const Json& value, const std::string& text) {
  if (value.is_null()) return text.empty() || text == "nan" || text == "inf" || text == "-1";
  if (value.is_object()) return value.empty() ? text.empty() : Json::parse(text) == value;
  if (value.is_boolean()) return text == (value.get<bool>() ? "1" : "0");
  if (value.is_string()) return text == value.get<std::string>();
  if (value.is_number_integer()) return text == std::to_string(value.get<std::int64_t>());
  return std::strtod(text.c_str(), nullptr) == value.get<double>();
}

TEST(Sinks, json_and_csv_agree_field_by_field) {
  const RunResult run = sample_run();
  const Json root = json_of(run);
  ASSERT_EQ(root["records"].size(), run.records.size());
  for (std::size_t i = 0; i < run.records.size(); ++i) {
    for (const RecordField* field : csv_columns()) {
      const std::string& column = field->column;
      const std::string text = csv_text(*field, run.records[i]);
      const Json::json_pointer pointer('/' + field->path);
      // Below a null (nothing timed, nothing compared) there is nothing.
      const Json& record = root["records"][i];
      const Json value = record.contains(pointer) ? record.at(pointer) : Json(nullptr);
      Json::json_pointer nearest = pointer;
      while (!record.contains(nearest)) nearest.pop_back();
      EXPECT_TRUE(nearest == pointer || record.at(nearest).is_null()) << column;
      EXPECT_TRUE(agree(value, text)) << column << ": " << value << " against '" << text << "'";
    }
  }
}

TEST(Sinks, an_interval_is_given_from_the_first_round_that_has_one) {
  Record record = sample_run().records[0];
  for (int rounds = 1; rounds <= 8; ++rounds) {
    record.timing.rounds = rounds;
    const bool exists =
        median_interval(std::vector<double>(static_cast<std::size_t>(rounds)), 0.95).k > 0;
    EXPECT_EQ(has_interval(record), exists) << rounds;
    EXPECT_EQ(csv_row_of(record)["lo_us"].empty(), !exists) << rounds;
    EXPECT_EQ(csv_row_of(record)["hi_us"].empty(), !exists) << rounds;
    RunResult run = sample_run();
    run.records = {record};
    const Json time = json_of(run)["records"][0]["time_us"];
    EXPECT_EQ(time["lo"].is_null(), !exists) << rounds;
    EXPECT_EQ(time["hi"].is_null(), !exists) << rounds;
    EXPECT_FALSE(time["median"].is_null());
    std::ostringstream markdown;
    write_markdown(run, markdown);
    EXPECT_EQ(markdown.str().find("| –") != std::string::npos, !exists) << rounds;
  }
}

TEST(Sinks, every_format_has_every_record) {
  const RunResult run = sample_run();
  std::ostringstream junit, markdown;
  write_junit(run, junit);
  write_markdown(run, markdown);
  std::size_t cases = 0, rows = 0;
  for (std::size_t at = 0; (at = junit.str().find("<testcase ", at)) != std::string::npos; ++at) {
    ++cases;
  }
  std::istringstream lines(markdown.str().substr(0, markdown.str().find("\nA/A")));
  for (std::string line; std::getline(lines, line);) rows += line.starts_with("| ") ? 1u : 0u;
  EXPECT_EQ(cases, run.records.size());
  EXPECT_EQ(rows + 1, run.records.size());  // a heading more, and two are told below the table
  EXPECT_THAT(
      markdown.str(),
      testing::HasSubstr("\nNot run:\n\n"
                         "- prefix_hits/ps16: torch_native (no extend beside decode, &lt;yet>)\n"
                         "- mla,\"odd\": late (interrupted)\n"));
}

TEST(Sinks, json_names_every_device_with_its_own_ceilings) {
  RunResult run = sample_run();
  run.devices.push_back(
      {{DeviceKind::kCuda, "Sample GPU", "sm_90", 132, 60, 70}, {4e12, 3e12, 8e14}});
  const Json devices = json_of(run)["devices"];
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0]["kind"], "cpu");
  EXPECT_EQ(devices[0]["ceilings"]["read_bytes_per_s"], 21.3e9);
  EXPECT_EQ(devices[1]["kind"], "cuda");
  EXPECT_EQ(devices[1]["name"], "Sample GPU");
  EXPECT_EQ(devices[1]["units"], 132);
  EXPECT_EQ(devices[1]["ceilings"]["copy_bytes_per_s"], 3e12);
  EXPECT_EQ(devices[1]["ceilings"]["flop_per_s"], 8e14);
}

TEST(Sinks, tell_what_the_host_does_from_what_the_device_does) {
  const Json records = json_of(sample_run())["records"];
  EXPECT_EQ(records[5]["enqueue_us"], 2.8125);
  EXPECT_EQ(records[5]["clock_events"], "power_cap thermal");
  EXPECT_EQ(records[5]["index_us"]["device"], 12.3);
  EXPECT_EQ(records[5]["index_us"]["host"], 180.5);
  EXPECT_TRUE(records[0]["enqueue_us"].is_null()) << "a CPU's work is done when its call returns";
  EXPECT_TRUE(records[0]["index_us"].is_null());
  EXPECT_EQ(records[0]["discarded"], 0);
  EXPECT_TRUE(records[3]["discarded"].is_null());
  EXPECT_EQ(records[6]["short"], true);
}

TEST(Sinks, give_a_batched_graph_its_own_figure_or_why_there_is_none) {
  const Json records = json_of(sample_run())["records"];
  EXPECT_TRUE(records[0]["graph_n"].is_null());
  const Json& brief = records[9]["graph_n"];
  EXPECT_EQ(records[9]["time_us"]["median"], 4.5) << "the main figure stays";
  EXPECT_EQ(brief["median"], 3.875);
  EXPECT_EQ(brief["forwards"], 31);
  EXPECT_EQ(brief["status"], "converged");
  const Json& alone = records[10]["graph_n"];
  EXPECT_TRUE(alone["median"].is_null());
  EXPECT_TRUE(alone["lo"].is_null());
  EXPECT_EQ(alone["status"], "refused");
  EXPECT_THAT(alone["reason"], testing::HasSubstr("7.0 GB"));
}

TEST(Sinks, the_table_has_a_column_for_graphs_of_many_only_where_there_is_one) {
  RunResult run = sample_run();
  const auto table_of = [&] {
    std::ostringstream out;
    write_markdown(run, out);
    return out.str();
  };
  const std::string text = table_of();
  EXPECT_THAT(text, testing::HasSubstr("| ± | vs best | graph×N | GB/s |"));
  EXPECT_THAT(text, testing::HasSubstr("| 4.50 µs | 0.3 % | 1.00 = | 3.88 µs ± 0.3 % (×31) | "));
  EXPECT_THAT(text, testing::HasSubstr(" | refused: kv pool needs 7.0 GB"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") && !line.starts_with("|--")) continue;
    if (line.find("#2 / #1") != std::string::npos) break;
    std::size_t cells = 0;
    for (std::size_t i = 1; i < line.size(); ++i) cells += line[i] == '|' && line[i - 1] != '\\';
    EXPECT_EQ(cells, 18u) << line;
  }
  run.records.resize(9);
  EXPECT_EQ(table_of().find("graph×"), std::string::npos);
}

TEST(Sinks, a_wrong_cell_claims_no_speed_anywhere) {
  const Json root = json_of(sample_run());
  for (const Json& record : root["records"]) {
    const bool wrong = record["verdict"] == "INCORRECT" || record["impossible"] == true;
    if (!wrong) continue;
    EXPECT_TRUE(record["gb_per_s"].is_null());
    EXPECT_TRUE(record["tflop_per_s"].is_null());
    EXPECT_TRUE(record["roofline"].is_null());
  }
}

TEST(Sinks, a_failed_row_carries_its_repro_line_in_every_format_for_people) {
  RunResult run = sample_run();
  for (Record& record : run.records) record.repro = "repro-of-" + record.backend;
  std::ostringstream junit, markdown;
  write_junit(run, junit);
  write_markdown(run, markdown);
  for (const char* backend : {"too_fast", "cpu_flash"}) {
    EXPECT_THAT(junit.str(), testing::HasSubstr(std::string("repro-of-") + backend));
    EXPECT_THAT(markdown.str(), testing::HasSubstr(std::string("repro-of-") + backend));
  }
}

TEST(Sinks, junit_calls_a_defect_of_attnbench_an_error_and_a_machine_that_is_too_small_a_skip) {
  RunResult run = sample_run();
  run.records.resize(2);
  run.records[0].outcome = Skipped{"why", HarnessError::kDefect};
  run.records[1].outcome = Skipped{"why", HarnessError::kEnvironment};
  std::ostringstream out;
  write_junit(run, out);
  EXPECT_THAT(out.str(), testing::HasSubstr("failures=\"0\" errors=\"1\" skipped=\"1\""));
  EXPECT_THAT(out.str(), testing::ContainsRegex("<error .*message=\"why\""));
  EXPECT_THAT(out.str(), testing::ContainsRegex("<skipped message=\".*why\""));
}

TEST(Sinks, junit_escapes_what_xml_cannot_hold) {
  RunResult run = sample_run();
  run.records.resize(1);
  run.records[0].case_id = "a<b>&\"c\"\x01";
  std::ostringstream out;
  write_junit(run, out);
  EXPECT_THAT(out.str(), testing::HasSubstr("a&lt;b&gt;&amp;&quot;c&quot;\\x01"));
}

/// As hostile as a file, a name or a backend's message can be.
RunResult hostile_run() {
  RunResult run = sample_run();
  const std::string text = "x\x1b]0;owned\x07\xff\xc2\x9b\xe2\x80\xae";
  run.scenarios[0].name = text;
  run.environment.device.name = text;
  for (Record& record : run.records) {
    record.scenario = record.case_id = record.backend = record.repro = text;
    std::visit([&](auto& outcome) { outcome.reason = text; }, record.outcome);
  }
  return run;
}

TEST(Sinks, for_people_pass_on_nothing_that_steers_a_terminal) {
  for (const auto write : {write_markdown, write_junit}) {
    std::ostringstream out;
    write(hostile_run(), out);
    EXPECT_THAT(out.str(), testing::HasSubstr("x\\x1b]0;owned\\x07\\xff\\u009b\\u202e"));
    for (const char* bad : {"\x1b", "\x07", "\xff", "\xc2\x9b", "\xe2\x80\xae"}) {
      EXPECT_EQ(out.str().find(bad), std::string::npos);
    }
  }
}

TEST(Sinks, tell_the_cells_of_several_scenarios_apart) {
  RunResult run = sample_run();
  RunResult other = sample_run();
  other.scenarios[0].name = "other";
  append(run, other);
  const std::size_t half = run.records.size() / 2;
  for (std::size_t i = half; i < run.records.size(); ++i) run.records[i].scenario = "other";
  EXPECT_EQ(run.wall_s, 2 * sample_run().wall_s);
  const Json root = json_of(run);
  EXPECT_EQ(root["scenario"], root["scenarios"][0]);
  EXPECT_EQ(root["scenarios"][1]["name"], "other");
  EXPECT_EQ(root["records"][half]["scenario"], "other");
  std::ostringstream junit, markdown, benchmark;
  write_junit(run, junit);
  EXPECT_THAT(junit.str(), testing::HasSubstr("classname=\"other.prefix_hits\""));
  write_markdown(run, markdown);
  EXPECT_THAT(markdown.str(), testing::HasSubstr("| other/prefix_hits/ps16 |"));
  write_google_benchmark_json(run, benchmark);
  EXPECT_THAT(benchmark.str(),
              testing::HasSubstr("\"other/prefix_hits/ps16/cpu_flash/cold/eager\""));
}

TEST(Sinks, json_survives_bytes_that_are_no_utf_8) {
  RunResult run = sample_run();
  run.records[0].outcome = Skipped{"\xff\xfe"};
  EXPECT_NO_THROW(json_of(run));
}

TEST(Sinks, a_stream_that_fails_says_so) {
  for (const auto write :
       {write_json, write_csv, write_markdown, write_junit, write_google_benchmark_json}) {
    std::ofstream full("/dev/full");
    if (!full) GTEST_SKIP() << "no /dev/full here";
    write(sample_run(), full);
    full.flush();
    EXPECT_TRUE(full.fail());
  }
}

/// Runs a Python program of this room on a file with the sample run in it.
int python_on(const std::string& program, const std::string& arguments,
              void (*write)(const RunResult&, std::ostream&), const RunResult& run = sample_run()) {
  const std::string path = testing::TempDir() + "attnbench_sinks_" +
                           testing::UnitTest::GetInstance()->current_test_info()->name();
  {
    std::ofstream out(path, std::ios::binary);
    write(run, out);
  }
  const std::string root = ATTNBENCH_SOURCE_DIR;
  const std::string command = std::string(ATTNBENCH_PYTHON) + " '" + root +
                              "/lib/summary/testdata/" + program + "' '" + path + "' " + arguments;
  const int status = std::system(command.c_str());
  std::remove(path.c_str());
  return status;
}

TEST(Sinks, json_is_valid_under_the_published_schema) {
  const std::string schema = std::string("'") + ATTNBENCH_SOURCE_DIR + "/results/schema.json'";
  EXPECT_EQ(python_on("validate_json.py", schema, write_json), 0);
  RunResult corner = sample_run();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  corner.ceilings = {nan, nan, nan};
  Record& first = corner.records[0];
  first.timing.lo_us = first.timing.hi_us = nan;
  first.error.worst = WorstElement{};
  first.error.worst.got = nan;
  first.roofline = nan;
  first.outcome = Completed{Check::kPassed, Speed::kClaimed, "\xff\xfe \x01"};
  Record& idle = corner.records[1] = Record{};  // no requests, no tokens, no bytes
  idle.mode = "idle";
  idle.dtype = "bf16";
  EXPECT_EQ(python_on("validate_json.py", schema, write_json, corner), 0);
  corner.records.clear();
  EXPECT_EQ(python_on("validate_json.py", schema, write_json, corner), 0);
}

TEST(Sinks, google_benchmarks_compare_py_can_read_its_json) {
  EXPECT_EQ(python_on("load_as_compare_py.py", "", write_google_benchmark_json), 0);
}

TEST(Sinks, junit_is_well_formed_and_counts_right) {
  EXPECT_EQ(python_on("check_junit.py", "", write_junit), 0);
}

}  // namespace
}  // namespace attnbench
