// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/aa_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "lib/result/testing/sample_run.h"
#include "lib/summary/terminal_columns.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

Record second(const std::string& backend, PairedRatio aa) {
  Record r = sample_run().records[0];
  r.backend = backend;
  r.aa = aa;
  return r;
}

RunResult run_of(std::vector<Record> records) {
  RunResult run;
  run.records = std::move(records);
  return run;
}

TEST(AaSection, is_absent_from_a_run_without_pairs) {
  const RunResult run = run_of({sample_run().records[0]});
  EXPECT_EQ(aa_terminal_section(run), "");
  EXPECT_EQ(aa_markdown_section(run), "");
}

TEST(AaSection, gives_ratio_interval_and_the_largest_of_every_pair) {
  const RunResult run =
      run_of({second("a", {}), second("a#2", {12, 1.00125, 0.997, 1.0041, 1.021})});
  const std::vector<AaRow> rows = aa_rows(run);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].backend, "a");
  EXPECT_EQ(rows[0].ratio, "+0.12 %");
  EXPECT_EQ(rows[0].range, "-0.30 … +0.41 %");
  EXPECT_EQ(rows[0].largest, "2.10 %");
  EXPECT_EQ(rows[0].pairs, "12");
}

TEST(AaSection, takes_the_widest_cell_for_the_floor) {
  const RunResult run =
      run_of({second("a#2", {12, 1, 0.999, 1.001, 1.5}), second("b#2", {12, 1, 0.98, 1.001, 1.5}),
              second("c#2", {5, 2, 2, 2, 2})});
  EXPECT_THAT(aa_floor_text(run), HasSubstr("floor 2.04 %"));
}

TEST(AaSection, names_no_floor_that_it_does_not_have) {
  const RunResult run = run_of({second("a#2", {5, 1, 1, 1, 1})});
  EXPECT_EQ(aa_rows(run)[0].range, "–");
  EXPECT_THAT(aa_floor_text(run), HasSubstr("no floor"));
}

TEST(AaSection, fits_the_terminal) {
  Record wide = second("a_backend_with_a_long_name#2", {40, 0.123, 0.001, 12.34, 99.99});
  wide.case_id = "a_mix_with_a_long_name/and_a_long_case";
  wide.launch = LaunchMode::kGraph;
  std::istringstream lines(aa_terminal_section(run_of({wide})));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), kTerminalWidth) << line;
  }
}

}  // namespace
}  // namespace attnbench
