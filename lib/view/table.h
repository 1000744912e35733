// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnbench {

/// A column of a Table. On a terminal it is as wide as its widest cell, within the limits.
struct Column {
  enum class Align { kLeft, kRight };
  std::string heading;
  Align align = Align::kLeft;
  std::size_t gap = 2;    ///< spaces before it on a terminal
  std::size_t least = 0;  ///< width in columns of a terminal
  std::size_t most = std::string::npos;
  std::string legend = {};  ///< what a note says of it; empty: the heading says all
};

struct Row {
  std::vector<std::string> cells;  ///< fewer than columns: the others are empty
  std::string below = {};          ///< whole lines that a terminal has below it
  std::string_view colour = {};    ///< ANSI escape of the last cell on a terminal
};

/// A table for people, which is described once and printed by two renderers.
struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

inline constexpr std::string_view kPlainColour = "\x1b[0m";

void drop_column(Table& table, std::string_view heading);
/// Columns of a terminal that the cells of a column take.
[[nodiscard]] std::size_t width_of(const Table& table, std::size_t column);
/// "roof: … · plan: …".
[[nodiscard]] std::string legends_of(const Table& table);

/// Lines of at most `width` columns, control characters as printable() shows them. A longer cell
/// than its column takes loses its tail to "…". A column without heading and text is left out, and
/// so is the line of headings where no column has one.
[[nodiscard]] std::string terminal_text(const Table& table, std::size_t width = std::string::npos);

/// `text` as a cell of a Markdown table.
[[nodiscard]] std::string markdown_cell(std::string_view text);
/// `cells`: plain text, or Markdown that the caller made.
enum class CellText { kPlain, kMarkdown };
[[nodiscard]] std::string markdown_text(const Table& table, CellText cells = CellText::kPlain);

/// A part of a report: a heading, a table and closing lines, each of which may be missing.
struct Section {
  std::string heading;
  Table table;
  std::vector<std::string> notes;

  [[nodiscard]] bool empty() const { return table.rows.empty() && notes.empty(); }
};

/// Behind an empty line; "" of an empty section. Notes are wrapped behind two spaces.
[[nodiscard]] std::string terminal_text(const Section& section, std::size_t width);
[[nodiscard]] std::string markdown_text(const Section& section);

}  // namespace attnbench
