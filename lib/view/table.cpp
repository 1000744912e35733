// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/view/table.h"

#include <algorithm>

#include "lib/base/printable.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

std::string cell_of(const Row& row, std::size_t column) {
  return column < row.cells.size() ? printable(row.cells[column]) : std::string();
}

Row headings_of(const Table& table) {
  Row row;
  for (const Column& column : table.columns) row.cells.push_back(column.heading);
  return row;
}

bool has_headings(const Table& table) {
  return !std::ranges::all_of(table.columns, &std::string::empty, &Column::heading);
}

std::string line_of(const Table& table, const Row& row, const std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0) continue;
    const Column& column = table.columns[i];
    const std::string cell = cell_of(row, i);
    line.append(line.empty() && i > 0 ? 0 : column.gap, ' ');
    line += column.align == Column::Align::kLeft ? fit_left(cell, widths[i])
                                                 : fit_right(cell, widths[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string coloured_end(std::string line, const Row& row) {
  if (row.colour.empty()) return line;
  line.insert(line.size() - std::min(line.size(), row.cells.back().size()), row.colour);
  return line.append(kPlainColour);
}

std::string markdown_line(const std::vector<std::string>& cells, std::size_t columns) {
  std::string line = "|";
  for (std::size_t i = 0; i < columns; ++i) line += ' ' + (i < cells.size() ? cells[i] : "") + " |";
  return line + '\n';
}

}  // namespace

void drop_column(Table& table, std::string_view heading) {
  const auto column = std::ranges::find(table.columns, heading, &Column::heading);
  const auto position = column - table.columns.begin();
  table.columns.erase(column);
  for (Row& row : table.rows) {
    if (position < std::ssize(row.cells)) row.cells.erase(row.cells.begin() + position);
  }
}

std::size_t width_of(const Table& table, std::size_t column) {
  const Column& c = table.columns[column];
  std::size_t width = std::max(c.least, display_width(c.heading));
  for (const Row& row : table.rows) width = std::max(width, display_width(cell_of(row, column)));
  return std::min(width, c.most);
}

std::string legends_of(const Table& table) {
  std::string text;
  for (const Column& column : table.columns) {
    if (!column.legend.empty()) text += (text.empty() ? "" : " · ") + column.legend;
  }
  return text;
}

std::string terminal_text(const Table& table, std::size_t width) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) widths.push_back(width_of(table, i));
  std::string text;
  if (has_headings(table)) {
    text = cut_to_width(line_of(table, headings_of(table), widths), width) + '\n';
  }
  for (const Row& row : table.rows) {
    text += coloured_end(cut_to_width(line_of(table, row, widths), width), row) + '\n' + row.below;
  }
  return text;
}

std::string markdown_cell(std::string_view text) {
  // A pipe would start the next cell, a line break the next row, '<' a tag that is not displayed.
  std::string out;
  for (const char c : printable(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (c == '|') out += '\\';
      out += c == '\n' ? ' ' : c;
    }
  }
  return out;
}

std::string markdown_text(const Table& table, CellText cells) {
  const std::size_t columns = table.columns.size();
  std::string text = markdown_line(headings_of(table).cells, columns) + '|';
  for (const Column& column : table.columns) {
    text += column.align == Column::Align::kLeft ? "---|" : "--:|";
  }
  text += '\n';
  for (Row row : table.rows) {
    if (cells == CellText::kPlain)
      std::ranges::transform(row.cells, row.cells.begin(), markdown_cell);
    text += markdown_line(row.cells, columns);
  }
  return text;
}

std::string terminal_text(const Section& section, std::size_t width) {
  if (section.empty()) return {};
  std::string text = "\n";
  if (!section.heading.empty()) text += wrapped(section.heading, width, 0);
  text += terminal_text(section.table, width);
  for (const std::string& note : section.notes) text += wrapped(note, width, 2);
  return text;
}

std::string markdown_text(const Section& section) {
  if (section.empty()) return {};
  std::string text = "\n";
  if (!section.heading.empty()) text += markdown_cell(section.heading) + "\n\n";
  text += markdown_text(section.table);
  for (const std::string& note : section.notes) text += '\n' + markdown_cell(note) + '\n';
  return text;
}

}  // namespace attnbench
