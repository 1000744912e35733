// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string>

#include "lib/result/csv_columns.h"
#include "lib/result/sinks.h"
#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

std::string csv_of(const RunResult& run) {
  std::ostringstream out;
  write_csv(run, out);
  return out.str();
}

const RecordField& column_named(const std::string& name) {
  return **std::ranges::find(csv_columns(), name, &RecordField::column);
}

TEST(Csv, keeps_the_last_bit_of_a_number) {
  Record record = sample_run().records[0];
  record.timing.median_us = 0.1 + 0.2;
  record.error.nmse = 5e-324;
  EXPECT_EQ(csv_text(column_named("median_us"), record), "0.30000000000000004");
  EXPECT_EQ(csv_text(column_named("nmse"), record), "5e-324");
}

TEST(Csv, has_no_text_for_what_does_not_exist_and_a_word_for_what_is_no_number) {
  Record record = sample_run().records[0];
  record.error.nmse = std::numeric_limits<double>::quiet_NaN();
  record.bitwise.repeatable = -1;
  EXPECT_EQ(csv_text(column_named("nmse"), record), "nan");
  EXPECT_EQ(csv_text(column_named("repeatable"), record), "-1");
  EXPECT_EQ(csv_text(column_named("aa_pairs"), record), "");
}

TEST(Csv, quotes_what_would_end_a_field_and_writes_a_line_break_as_a_space) {
  RunResult run = sample_run();
  run.records.resize(1);
  run.records[0].backend = "say \"fast\", ok";
  run.records[0].mix = " mix\nof two";
  const std::string text = csv_of(run);
  EXPECT_THAT(text, testing::HasSubstr(",\"say \"\"fast\"\", ok\","));
  EXPECT_THAT(text, testing::HasSubstr(",\" mix of two\","));
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

}  // namespace
}  // namespace attnbench
