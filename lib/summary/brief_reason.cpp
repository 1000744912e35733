// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/brief_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "lib/verify/likely_cause.h"

namespace attnbench {
namespace {

std::string_view up_to_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  std::size_t end = text.size();
  for (const std::string_view each : ends) end = std::min(end, text.find(each));
  return text.substr(0, end);
}

}  // namespace

std::string brief_reason(const Record& record) {
  const std::string_view reason = record.reason();
  if (record.verdict() != Verdict::kIncorrect) return std::string(reason);
  const std::string_view found = up_to_any(reason, {", own key on page ", ": got ", "; ", "\n"});
  const std::size_t cause = reason.find(kCausePhrase);
  if (cause == std::string_view::npos) return std::string(found);
  return fmt::format("{} ({})",
                     up_to_any(reason.substr(cause + kCausePhrase.size()), {"; ", " (bounds of "}),
                     found);
}

bool has_brief_reason(const Record& record) { return brief_reason(record) != record.reason(); }

}  // namespace attnbench
