// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lib/config/source_excerpt.h"

namespace attnbench {
namespace {

/// Bytes of a message or a hint that are shown: room for every list of names of the language, and
/// none for a value that fills the file.
constexpr std::size_t kMessageBytes = 1200;

/// An excerpt that does not begin where its line does, with its underline, in front of a hint.
std::string framed(const SourceExcerpt& shown, int line) {
  const std::string number = fmt::format("{:>2}", line);
  return fmt::format("{} | {}\n   {:{}} | {:{}}^{:~<{}}", number, shown.text, "", number.size(), "",
                     shown.column - 1, "", shown.length - 1);
}

/// A message is one line, whatever a quoted key or value of the file holds.
std::string on_one_line(std::string_view message) {
  std::string line;
  for (const char c : message) c == '\n' ? line += "\\n" : line += c;
  return line;
}

}  // namespace

Problems::Problems(std::string_view text, std::string file) : file_(std::move(file)) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines_.emplace_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

void Problems::add(const Place& place, std::string message, std::string hint) {
  const bool placed = place.line > 0;
  if (placed && !places_.emplace(place.line, place.column).second) return;
  const auto same_message = [&](const auto& other) {
    return other.second.where.line == 0 && other.second.message == message;
  };
  if (!placed && std::ranges::any_of(shown_, same_message)) return;
  const std::tuple key(place.line, place.column, reports_++);
  if (shown_.size() == kMostShown) {
    ++left_out_;  // this one, or the last of those shown
    if (key > shown_.rbegin()->first) return;
    shown_.erase(std::prev(shown_.end()));
  }
  Diagnostic diagnostic{{file_, place.line, place.column},
                        place.length,
                        on_one_line(shortened(message, kMessageBytes)),
                        shortened(hint, kMessageBytes),
                        {}};
  if (placed && static_cast<std::size_t>(place.line) <= lines_.size()) {
    const std::string& line = lines_[static_cast<std::size_t>(place.line) - 1];
    const auto begin = static_cast<std::size_t>(std::max(place.column, 1)) - 1;
    const SourceExcerpt shown =
        excerpt(line, begin, static_cast<std::size_t>(std::max(place.length, 1)));
    diagnostic.where.column = characters(std::string_view(line).substr(0, begin)) + 1;
    diagnostic.length = shown.length;
    if (shown.column == diagnostic.where.column) {
      diagnostic.source_line = shown.text;
    } else {  // the underline of a Diagnostic stands at the column of its place
      diagnostic.hint =
          framed(shown, place.line) + (diagnostic.hint.empty() ? "" : "\n   " + diagnostic.hint);
    }
  }
  shown_.emplace(key, std::move(diagnostic));
}

std::string_view Problems::line(int number) const {
  if (number < 1 || static_cast<std::size_t>(number) > lines_.size()) return {};
  return lines_[static_cast<std::size_t>(number) - 1];
}

void Problems::throw_if_any() const {
  if (shown_.empty()) return;
  std::vector<Diagnostic> diagnostics;
  for (const auto& [place, diagnostic] : shown_) diagnostics.push_back(diagnostic);
  if (left_out_ > 0) {
    diagnostics.push_back({{file_, 0, 0},
                           1,
                           fmt::format("... and {} more", left_out_),
                           fmt::format("shown are the first {} of the file", kMostShown),
                           {}});
  }
  throw ConfigError(std::move(diagnostics));
}

}  // namespace attnbench
