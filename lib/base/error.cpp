// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "lib/base/printable.h"

namespace attnbench {
namespace {

bool continues_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) == 0x80u; }

/// The first `letters` letters of a line of UTF-8, and the rest.
std::pair<std::string_view, std::string_view> split(std::string_view line, int letters) {
  std::size_t bytes = 0;
  for (int seen = 0; bytes < line.size(); ++bytes) {
    if (!continues_letter(line[bytes]) && seen++ == std::max(letters, 0)) break;
  }
  return {line.substr(0, bytes), line.substr(bytes)};
}

/// A mark below each letter that `text` shows. Tabs are kept, so that an underline stays below its
/// word in any terminal.
std::string blanked(std::string_view text, char mark) {
  std::string marks;
  for (const char c : printable(text)) {
    if (!continues_letter(c)) marks += c == '\t' ? c : mark;
  }
  return marks;
}

std::string render_all(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) text += render(diagnostic);
  return text;
}

/// Optimal string alignment: insert, delete, replace, and swap of neighbours, the four ways to
/// mistype.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

template <class Name>
std::string_view nearest(std::string_view found, std::span<const Name> names) {
  std::string_view best;
  // A third of the letters may be wrong; more is another word.
  std::size_t limit = std::max<std::size_t>(1, found.size() / 3) + 1;
  for (const Name& name : names) {
    const std::size_t distance = edit_distance(found, name);
    if (distance < limit) {
      limit = distance;
      best = name;
    }
  }
  return best;
}

/// The names that `found` is a part of. Two letters are part of too much, and many names would only
/// repeat the list of what is allowed.
template <class Name>
std::vector<std::string_view> containing(std::string_view found, std::span<const Name> names) {
  constexpr std::size_t kFewestLetters = 3, kMostNames = 3;
  std::vector<std::string_view> whole;
  if (found.size() < kFewestLetters) return whole;
  for (const std::string_view name : names) {
    if (name.find(found) != std::string_view::npos) whole.push_back(name);
  }
  if (whole.size() > kMostNames) whole.clear();
  return whole;
}

template <class Name>
std::string likely(std::string_view found, std::span<const Name> names) {
  if (const std::string_view typo = nearest(found, names); !typo.empty()) {
    return fmt::format("'{}'", typo);
  }
  const std::vector<std::string_view> whole = containing(found, names);
  std::string text;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i > 0) text += i + 1 == whole.size() ? " or " : ", ";
    text += fmt::format("'{}'", whole[i]);
  }
  return text;
}

}  // namespace

std::string render(const Diagnostic& d) {
  std::string text;
  if (!d.where.file.empty()) text += d.where.file + ":";
  if (d.where.line > 0) text += fmt::format("{}:{}:", d.where.line, d.where.column);
  text += fmt::format("{}error: {}\n", text.empty() ? "" : " ", d.message);
  if (!d.source_line.empty()) {
    text += fmt::format("{:>5} | {}\n", d.where.line, d.source_line);
    const auto [before, inside] = split(d.source_line, d.where.column - 1);
    std::string tail = blanked(split(inside, d.length).first, '~');
    if (tail.empty()) tail = "~";
    text += fmt::format("      | {}^{}\n", blanked(before, ' '), tail.substr(1));
  }
  if (!d.hint.empty()) text += "   " + d.hint + "\n";
  return printable(text);
}

ConfigError::ConfigError(const std::string& message)
    : std::runtime_error("error: " + printable(message) + "\n"),
      diagnostics_{{{}, 1, message, {}, {}}} {}

ConfigError::ConfigError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(render_all(diagnostics)), diagnostics_(std::move(diagnostics)) {}

void expects(bool condition, std::string_view what) {
  if (!condition) throw InternalError(std::string(what));
}

std::string likely_names(std::string_view found, std::span<const std::string_view> names) {
  return likely(found, names);
}

std::string likely_names(std::string_view found, std::span<const std::string> names) {
  return likely(found, names);
}

}  // namespace attnbench
