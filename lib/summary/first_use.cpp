// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/first_use.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

namespace attnbench {
namespace {

/// Shorter waits are not worth a line: they are in the result file.
constexpr double kLongUs = 1e6;

}  // namespace

std::string first_use_text(std::span<const Record> of_case) {
  std::string text;
  std::set<std::string_view> named;  // a backend has a record for each of its cells
  for (const Record& r : of_case) {
    if (r.first_use_us < kLongUs || !named.insert(r.backend).second) continue;
    text += fmt::format("{}{} {:.3g} s", text.empty() ? "" : ", ", r.backend, r.first_use_us / 1e6);
  }
  return text;
}

}  // namespace attnbench
