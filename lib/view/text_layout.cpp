// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/view/text_layout.h"

#include <vector>

#include "lib/base/printable.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

/// Parts on lines of at most `first_room` columns, then `room` behind an indentation.
std::string fill_lines(std::span<const std::string> parts, std::string_view separator,
                       std::size_t first_room, std::size_t room, std::size_t indent) {
  std::string text, line;
  for (const std::string& given : parts) {
    if (given.empty()) continue;
    const std::string part = printable(given);
    const std::string_view between = line.ends_with(',') ? " " : separator;
    const std::string joined = line.empty() ? part : line + std::string(between) + part;
    if (line.empty() || display_width(joined) <= (text.empty() ? first_room : room)) {
      line = joined;
      continue;
    }
    text += line + '\n' + std::string(indent, ' ');
    line = part;
  }
  return text + line;
}

}  // namespace

std::string join_parts(std::span<const std::string> parts, std::size_t width, std::size_t indent) {
  return fill_lines(parts, " · ", width, width - indent, indent);
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::vector<std::string> words(1);
  for (const char c : printable(text)) {
    if (c == ' ' || c == '\n' || c == '\t') {
      words.emplace_back();
      continue;
    }
    // A word longer than a line (a hash, a path) is cut, so that it stays inside the table; not
    // before a colon, since a CI server takes a line that begins with "::" for a command.
    const bool may_begin = (static_cast<unsigned char>(c) & 0xc0u) != 0x80u && c != ':';
    if (may_begin && words.back().size() + indent + 1 >= width) words.emplace_back();
    words.back() += c;
  }
  return std::string(indent, ' ') + fill_lines(words, " ", width - indent, width - indent, indent) +
         '\n';
}

}  // namespace attnbench
