// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/source_excerpt.h"

#include <algorithm>

#include "lib/base/printable.h"

namespace attnbench {
namespace {

/// Bytes of a line that are shown: some before the place, the rest from there on.
constexpr std::size_t kShownBefore = 60;
constexpr std::size_t kShown = 160;
constexpr std::string_view kCut = "…";

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) == 0x80u; }

/// The largest position up to `at` that cuts no character in two.
std::size_t character_start(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  while (at > 0 && at < text.size() && continues_character(text[at])) --at;
  return at;
}

}  // namespace

int characters(std::string_view text) {
  return static_cast<int>(text.size()) -
         static_cast<int>(std::ranges::count_if(text, continues_character));
}

SourceExcerpt excerpt(std::string_view line, std::size_t begin, std::size_t length) {
  const std::size_t place = std::min(begin, line.size());
  std::size_t first = 0, end = line.size();
  if (line.size() > kShown) {
    first = character_start(line, place - std::min(place, kShownBefore));
    end = character_start(line, first + kShown);
  }
  const std::size_t place_end = std::clamp(place + length, place, end);
  const std::string before =
      std::string(first > 0 ? kCut : "") + printable(line.substr(first, place - first));
  const std::string inside = printable(line.substr(place, place_end - place));
  const std::string_view mark = end < line.size() ? kCut : "";
  const std::string after = printable(line.substr(place_end, end - place_end)).append(mark);
  // A place beyond the end of its line keeps its distance.
  const auto beyond = static_cast<int>(std::min(begin - place, kShown));
  return {before + inside + after, characters(before) + beyond + 1,
          std::max(1, characters(inside))};
}

std::string shortened(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return printable(text);
  return printable(text.substr(0, character_start(text, limit))).append(kCut);
}

}  // namespace attnbench
