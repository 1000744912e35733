// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace attnbench {
namespace {

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
std::string nearest(std::string_view found, std::span<const Name> names) {
  std::string best;
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

}  // namespace

std::string render(const Diagnostic& d) {
  std::string text;
  if (!d.where.file.empty()) text += d.where.file + ":";
  if (d.where.line > 0) text += fmt::format("{}:{}:", d.where.line, d.where.column);
  text += fmt::format("{}error: {}\n", text.empty() ? "" : " ", d.message);
  if (!d.source_line.empty()) {
    text += fmt::format("{:>5} | {}\n", d.where.line, d.source_line);
    // Tabs are kept so that the underline stays below its word in any terminal.
    std::string margin;
    for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(std::max(d.where.column, 1)); ++i) {
      margin += i < d.source_line.size() && d.source_line[i] == '\t' ? '\t' : ' ';
    }
    const std::string tail(static_cast<std::size_t>(std::max(d.length, 1)) - 1, '~');
    text += fmt::format("      | {}^{}\n", margin, tail);
  }
  if (!d.hint.empty()) text += "   " + d.hint + "\n";
  return text;
}

ConfigError::ConfigError(const std::string& message)
    : std::runtime_error("error: " + message + "\n"), diagnostics_{{{}, 1, message, {}, {}}} {}

ConfigError::ConfigError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(render_all(diagnostics)), diagnostics_(std::move(diagnostics)) {}

void expects(bool condition, std::string_view what) {
  if (!condition) throw InternalError(std::string(what));
}

std::string nearest_name(std::string_view found, std::span<const std::string_view> names) {
  return nearest(found, names);
}

std::string nearest_name(std::string_view found, std::span<const std::string> names) {
  return nearest(found, names);
}

}  // namespace attnbench
