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

using testing::ElementsAre;
using testing::Pair;

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

Record swept() {
  Record r = sample_run().records[0];
  r.sweep = {{"batch[0].kv_len", "8k"}, {"kv_cache.k_scale", "0.5"}, {"placement", "shuffled"}};
  r.groups = {{"chat", 2, 3, 8192}, {"prompt", 1, 512, 512}};
  return r;
}

TEST(AddedColumns, hold_swept_values_as_plain_numbers) {
  EXPECT_THAT(swept_numbers(swept()),
              ElementsAre(Pair("batch[0].kv_len", 8192), Pair("kv_cache.k_scale", 0.5)));
}

TEST(AddedColumns, are_those_of_all_records_and_empty_where_one_has_no_such_number) {
  RunResult run = sample_run();
  Record other = swept();
  other.sweep = {{"tp", "2"}};
  other.groups.clear();
  run.records = {swept(), other};
  EXPECT_THAT(added_columns(run),
              ElementsAre("sweep:batch[0].kv_len", "sweep:kv_cache.k_scale", "q_len:chat",
                          "kv_len:chat", "q_len:prompt", "kv_len:prompt", "sweep:tp"));
  EXPECT_EQ(added_text("sweep:batch[0].kv_len", swept()), "8192");
  EXPECT_EQ(added_text("q_len:chat", swept()), "1.5");
  EXPECT_EQ(added_text("kv_len:chat", swept()), "4096");
  EXPECT_EQ(added_text("kv_len:chat", other), "");
}

}  // namespace
}  // namespace attnbench
