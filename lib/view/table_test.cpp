// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/view/table.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

Table sample() {
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  return {.columns = {{"name", kLeft, 1, 0, 5}, {"µs", kRight}, {"", kLeft}, {"note", kLeft}},
          .rows = {{{"longer", "1.5", "", "a|b"}}, {{"x"}, "    why\n"}}};
}

TEST(Table, IsAsWideAsItsCellsAndLeavesEmptyColumnsOut) {
  EXPECT_EQ(terminal_text(sample()),
            " name    µs  note\n"
            " long…  1.5  a|b\n"
            " x\n"
            "    why\n");
  EXPECT_EQ(terminal_text(sample(), 8), " name  …\n long… …\n x\n    why\n");
}

TEST(Table, ColoursTheLastCellOnly) {
  EXPECT_EQ(terminal_text(Table{.columns = {{}, {}}, .rows = {{{"a", "bad"}, "", "\x1b[31m"}}}),
            "  a  \x1b[31mbad\x1b[0m\n");
}

TEST(Table, EscapesCellsOfMarkdownUnlessTheyAreMarkdown) {
  EXPECT_EQ(markdown_text(sample()),
            "| name | µs |  | note |\n"
            "|---|--:|---|---|\n"
            "| longer | 1.5 |  | a\\|b |\n"
            "| x |  |  |  |\n");
  const Table table{.columns = {{"a"}}, .rows = {{{"<b>"}}}};
  EXPECT_EQ(markdown_text(table), "| a |\n|---|\n| &lt;b> |\n");
  EXPECT_EQ(markdown_text(table, CellText::kMarkdown), "| a |\n|---|\n| <b> |\n");
}

TEST(Table, LosesADroppedColumnWithItsCellsAndLegend) {
  Table table{.columns = {{"a"}, {"b", Column::Align::kLeft, 2, 0, 9, "b: of no use"}},
              .rows = {{{"1", "2"}}, {{"3"}}}};
  EXPECT_EQ(legends_of(table), "b: of no use");
  drop_column(table, "b");
  EXPECT_EQ(terminal_text(table), "  a\n  1\n  3\n");
  EXPECT_EQ(legends_of(table), "");

  Table first{.columns = {{"a"}, {"b"}}, .rows = {{{"1", "2"}}}};
  drop_column(first, "a");
  EXPECT_EQ(terminal_text(first), "  b\n  2\n");
}

TEST(Section, IsNothingWithoutRowsAndNotes) {
  EXPECT_EQ(terminal_text(Section{.heading = "title"}, 80), "");
  const Section section{"title", {.columns = {{"a"}}, .rows = {{{"1"}}}}, {"note"}};
  EXPECT_EQ(terminal_text(section, 80), "\ntitle\n  a\n  1\n  note\n");
  EXPECT_EQ(markdown_text(section), "\ntitle\n\n| a |\n|---|\n| 1 |\n\nnote\n");
}

}  // namespace
}  // namespace attnbench
