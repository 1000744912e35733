// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/problems.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace attnbench {
namespace {

/// Letters in the first `bytes` bytes of UTF-8: the column that an editor shows.
int letters(std::string_view line, int bytes) {
  const auto end = std::min(line.size(), static_cast<std::size_t>(std::max(bytes, 0)));
  const auto continued = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; };
  return bytes - static_cast<int>(std::ranges::count_if(line.substr(0, end), continued));
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
  Diagnostic diagnostic{
      {file_, place.line, place.column}, place.length, std::move(message), std::move(hint), {}};
  if (place.line > 0 && static_cast<std::size_t>(place.line) <= lines_.size()) {
    const std::string& line = lines_[static_cast<std::size_t>(place.line) - 1];
    const int before = place.column - 1;
    const int inside =
        std::clamp(static_cast<int>(line.size()) - before, 1, std::max(1, place.length));
    diagnostic.where.column = letters(line, before) + 1;
    diagnostic.length = letters(line, before + inside) - letters(line, before);
    diagnostic.source_line = line;
  }
  const auto same_place = [&](const Diagnostic& other) {
    return other.where.line == diagnostic.where.line &&
           other.where.column == diagnostic.where.column &&
           (place.line > 0 || other.message == diagnostic.message);
  };
  if (std::ranges::none_of(diagnostics_, same_place)) diagnostics_.push_back(std::move(diagnostic));
}

std::string_view Problems::line(int number) const {
  if (number < 1 || static_cast<std::size_t>(number) > lines_.size()) return {};
  return lines_[static_cast<std::size_t>(number) - 1];
}

void Problems::throw_if_any() const {
  if (diagnostics_.empty()) return;
  std::vector<Diagnostic> sorted = diagnostics_;
  std::ranges::stable_sort(
      sorted, {}, [](const Diagnostic& d) { return std::tuple(d.where.line, d.where.column); });
  throw ConfigError(std::move(sorted));
}

}  // namespace attnbench
