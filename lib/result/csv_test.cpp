// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lib/base/error.h"
#include "lib/result/csv_columns.h"
#include "lib/result/sinks.h"
#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

/// A file of this test's own, gone with it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(testing::TempDir() + "attnbench_csv_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv") {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string csv_of(const RunResult& run) {
  std::ostringstream out;
  write_csv(run, out);
  return out.str();
}

std::string error_of(const std::string& text) {
  const TemporaryFile file(text);
  try {
    static_cast<void>(read_csv(file.path()));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Csv, reads_back_every_field_that_it_wrote) {
  RunResult run = sample_run();
  const TemporaryFile file(csv_of(run));
  const std::vector<Record> records = read_csv(file.path());
  ASSERT_EQ(records.size(), run.records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    for (const RecordField* column : csv_columns()) {
      std::string written = csv_text(*column, run.records[i]);
      std::ranges::replace(written, '\n', ' ');  // the one thing that the format gives up
      EXPECT_EQ(csv_text(*column, records[i]), written) << column->column << " of record " << i;
    }
    EXPECT_EQ(records[i].is_timed(), run.records[i].is_timed());
    EXPECT_EQ(records[i].timing.status, run.records[i].timing.status);
    EXPECT_EQ(records[i].error.max_abs > 0, run.records[i].error.max_abs > 0);
  }
}

TEST(Csv, keeps_the_last_bit_of_a_number) {
  RunResult run = sample_run();
  run.records.resize(1);
  run.records[0].timing.median_us = 0.1 + 0.2;
  run.records[0].error.nmse = 5e-324;
  const TemporaryFile file(csv_of(run));
  const Record record = read_csv(file.path()).at(0);
  EXPECT_EQ(record.timing.median_us, 0.1 + 0.2);
  EXPECT_EQ(record.error.nmse, 5e-324);
}

TEST(Csv, reads_files_with_plain_line_ends_too) {
  std::string text = csv_of(sample_run());
  std::erase(text, '\r');
  const TemporaryFile file(text);
  EXPECT_EQ(read_csv(file.path()).size(), sample_run().records.size());
}

TEST(Csv, ends_every_line_as_rfc_4180_asks) {
  const std::string text = csv_of(sample_run());
  EXPECT_EQ(std::ranges::count(text, '\n'), std::ranges::count(text, '\r'));
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(text, '\n')),
            sample_run().records.size() + 1);
}

TEST(Csv, leaves_the_speed_of_a_cell_empty_that_claims_none) {
  const Record wrong = sample_run().records[2];
  for (const RecordField* column : csv_columns()) {
    const std::string& name = column->column;
    if (name == "gb_per_s" || name == "tflop_per_s" || name == "roofline") {
      EXPECT_EQ(csv_text(*column, wrong), "") << name;
    }
  }
}

TEST(Csv, names_the_line_and_the_column_of_a_bad_value) {
  std::string text = csv_of(sample_run());
  text.replace(text.find(",26,"), 4, ",x6,");
  EXPECT_THAT(error_of(text), testing::HasSubstr(".csv:2:1: error: column requests: 'x6'"));
}

TEST(Csv, refuses_an_empty_field_where_every_cell_has_a_value) {
  std::string text = csv_of(sample_run());
  text.replace(text.find(",26,"), 4, ",,");
  EXPECT_THAT(error_of(text), testing::HasSubstr(".csv:2:1: error: column requests: ''"));
}

TEST(Csv, refuses_a_time_of_a_cell_that_was_not_run) {
  std::string text = csv_of(sample_run());
  text.replace(text.find(",passed,"), 8, ",skipped,");
  EXPECT_THAT(
      error_of(text),
      testing::HasSubstr(":2:1: error: column median_us: a time of a cell that is skipped"));
}

/// The sample as it was written when the file had this many columns.
std::string csv_with(std::size_t columns) {
  std::string text;
  const auto add = [&](const std::string& field) {
    text += field.find_first_of(",\"") == std::string::npos ? field + ',' : "\"\",";
  };
  for (std::size_t i = 0; i < columns; ++i) add(csv_columns()[i]->column);
  text.back() = '\n';
  for (const Record& record : sample_run().records) {
    for (std::size_t i = 0; i < columns; ++i) {
      std::string field = csv_text(*csv_columns()[i], record);
      std::ranges::replace(field, '\n', ' ');
      add(field);
    }
    text.back() = '\n';
  }
  return text;
}

TEST(Csv, reads_what_every_version_before_it_wrote) {
  // 1.0.0, then with --aa, with the GPU's columns, with --force-graph; and what has a version.
  std::vector<std::size_t> counts = {65, 71, 78, 90};
  for (const SchemaVersion& version : kSchemaVersions) counts.push_back(version.columns);
  for (const std::size_t columns : counts) {
    const TemporaryFile file(csv_with(columns));
    const std::vector<Record> records = read_csv(file.path());
    ASSERT_EQ(records.size(), sample_run().records.size());
    const Record blank;
    for (std::size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(records[i].timing.median_us, sample_run().records[i].timing.median_us);
      for (std::size_t c = columns; c < kCsvColumns; ++c) {
        const RecordField& column = *csv_columns()[c];
        if (column.column == "discarded") continue;  // 0 of those that were kept
        EXPECT_EQ(csv_text(column, records[i]), csv_text(column, blank))
            << column.column << columns;
      }
    }
  }
}

TEST(Csv, reads_the_table_that_is_published) {
  const std::string path = std::string(ATTNBENCH_SOURCE_DIR) + "/results/h200/gpu.csv";
  EXPECT_FALSE(read_csv(path).empty());
}

TEST(Csv, names_the_first_columns_that_are_missing) {
  std::string text = csv_with(kCsvColumns);
  const auto without = [&](const std::string& name) {
    std::string renamed = text;
    renamed.replace(renamed.find(name), name.size(), "sm_mhz");  // known, but later
    return renamed;
  };
  std::string older = csv_with(65);
  EXPECT_THAT(error_of(older.substr(older.find(',') + 1)),
              testing::HasSubstr(".csv:1:1: error: missing column 'case'"));
  EXPECT_THAT(
      error_of("case,mix\na,b\n"),
      testing::HasSubstr("missing columns 'model', 'backend', 'backend_version' and 60 more"));
  EXPECT_THAT(error_of(without("median_us")),
              testing::HasSubstr(".csv:1:1: error: column 'sm_mhz' is there twice"));
}

TEST(Csv, names_a_column_that_it_does_not_know) {
  std::string text = csv_with(kCsvColumns);
  const std::string name = "median_us";
  text.replace(text.find(name), name.size(), "median_use");
  EXPECT_THAT(error_of(text), testing::HasSubstr("unknown column 'median_use'"));
  EXPECT_THAT(error_of(text), testing::HasSubstr("did you mean 'median_us'?"));
  text.replace(text.find("median_use"), 10, "warp_stalls_of_2027");
  EXPECT_THAT(error_of(text), testing::HasSubstr("unknown column 'warp_stalls_of_2027'"));
  EXPECT_THAT(error_of(text), testing::HasSubstr("written by a newer attnbench"));
}

TEST(Csv, refuses_a_row_of_fewer_or_more_fields_an_open_quote_and_a_missing_file) {
  const std::string text = csv_with(65);
  const std::size_t last = text.find_last_of(',');
  EXPECT_THAT(error_of(text.substr(0, last)),
              testing::HasSubstr("error: 64 fields, where the first line names 65 columns"));
  EXPECT_THAT(error_of(text.substr(0, text.size() - 1) + ",7\n"),
              testing::HasSubstr("error: 66 fields, where the first line names 65 columns"));
  EXPECT_THAT(error_of(text.substr(0, last) + ",\"x\n"),
              testing::HasSubstr("quotation mark is not closed"));
  EXPECT_THAT(error_of(""), testing::HasSubstr(".csv:1:1: error: an empty file"));
  EXPECT_THROW(static_cast<void>(read_csv("no/such/file.csv")), ConfigError);
}

}  // namespace
}  // namespace attnbench
