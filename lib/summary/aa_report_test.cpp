// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/aa_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "lib/result/testing/sample_run.h"
#include "lib/summary/terminal_columns.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

using testing::_;
using testing::ElementsAre;
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
  EXPECT_EQ(terminal_text(aa_report(run), kTerminalWidth), "");
  EXPECT_EQ(markdown_text(aa_report(run)), "");
}

TEST(AaSection, gives_ratio_interval_and_the_largest_of_every_pair) {
  const RunResult run =
      run_of({second("a", {}), second("a#2", {12, 1.00125, 0.997, 1.0041, 1.021})});
  const Section section = aa_report(run);
  ASSERT_EQ(section.table.rows.size(), 1u);
  EXPECT_THAT(section.table.rows[0].cells,
              ElementsAre(_, "a", "cold", "+0.12 %", "-0.30 … +0.41 %", "2.10 %", "12"));
}

TEST(AaSection, takes_the_widest_cell_for_the_floor) {
  const RunResult run =
      run_of({second("a#2", {12, 1, 0.999, 1.001, 1.5}), second("b#2", {12, 1, 0.98, 1.001, 1.5}),
              second("c#2", {5, 2, 2, 2, 2})});
  EXPECT_THAT(aa_report(run).notes.at(0), HasSubstr("floor 2.04 %"));
}

TEST(AaSection, names_no_floor_that_it_does_not_have) {
  const RunResult run = run_of({second("a#2", {5, 1, 1, 1, 1})});
  EXPECT_EQ(aa_report(run).table.rows[0].cells[4], "–");
  EXPECT_THAT(aa_report(run).notes.at(0), HasSubstr("no floor"));
}

TEST(AaSection, fits_the_terminal) {
  Record wide = second("a_backend_with_a_long_name#2", {40, 0.123, 0.001, 12.34, 99.99});
  wide.case_id = "a_mix_with_a_long_name/and_a_long_case";
  wide.launch = LaunchMode::kGraph;
  std::istringstream lines(terminal_text(aa_report(run_of({wide})), kTerminalWidth));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), kTerminalWidth) << line;
  }
}

}  // namespace
}  // namespace attnbench
