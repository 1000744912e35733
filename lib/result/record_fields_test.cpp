// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/record_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "lib/result/csv_columns.h"
#include "lib/result/record_json.h"
#include "lib/result/testing/fields_table.h"
#include "lib/result/testing/golden.h"
#include "lib/result/testing/record_schema.h"
#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

TEST(RecordFields, have_one_column_each_in_the_csv) {
  std::set<const RecordField*> columns(csv_columns().begin(), csv_columns().end());
  EXPECT_EQ(columns.size(), csv_columns().size());
  for (const RecordField& field : record_fields()) {
    EXPECT_EQ(columns.contains(&field), !field.column.empty()) << field.path;
  }
}

TEST(RecordFields, have_names_of_their_own_and_a_description) {
  std::set<std::string> columns, paths;
  for (const RecordField& field : record_fields()) {
    EXPECT_TRUE(paths.insert(field.path).second) << field.path;
    EXPECT_TRUE(field.column.empty() || columns.insert(field.column).second) << field.column;
    EXPECT_FALSE(field.description.empty()) << field.path;
  }
}

TEST(RecordFields, have_words_whose_number_the_schema_version_tells) {
  std::size_t words = 0;
  for (const RecordField& field : record_fields()) {
    const auto found = field.access.type.find("enum");
    if (found != field.access.type.end()) words += found->size();
  }
  EXPECT_STREQ(kSchemaVersion, "1.0.0");
  EXPECT_EQ(words, 135U) << "a word that joins raises the second part of a released version";
}

TEST(RecordFields, lie_in_groups_that_are_described) {
  for (const RecordField& field : record_fields()) {
    const auto levels = std::ranges::count(field.path, '/');
    EXPECT_EQ(groups_around(field.path).size(), static_cast<std::size_t>(levels)) << field.path;
  }
}

TEST(RecordFields, are_what_the_schema_says_of_a_record) {
  const std::string path = "results/schema.json";
  Json schema = Json::parse(repository_file(path));
  schema["$defs"]["record"] = record_schema();
  expect_golden(path, schema.dump(2) + '\n');
}

TEST(RecordFields, are_the_table_of_the_results_page) {
  const std::string path = "results/README.md";
  const std::string page = repository_file(path), table = fields_table();
  const std::size_t begin = page.find(table.substr(0, table.find('\n')));
  ASSERT_NE(begin, std::string::npos) << "no table of this heading";
  const std::size_t end = page.find("\n\n", begin) + 1;
  expect_golden(path, page.substr(0, begin) + table + page.substr(end));
}

}  // namespace
}  // namespace attnbench
