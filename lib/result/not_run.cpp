// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/not_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/session/aa_pairs.h"

namespace attnbench {
namespace {

/// Both of an A/A pair have one name, since they support the same.
std::string name_of(const Record& r, std::span<const Record> of_case) {
  std::string name(registered_name(r.backend));
  const bool others_ran = std::ranges::any_of(of_case, [&](const Record& other) {
    return registered_name(other.backend) == name && !was_not_run(other);
  });
  if (!others_ran) return name;
  if (r.verdict() == Verdict::kSkipped) name += fmt::format(" {}", to_string(r.cache));
  return r.launch == LaunchMode::kGraph ? name + "/g" : name;
}

}  // namespace

bool was_not_run(const Record& record) {
  return record.verdict() == Verdict::kUnsupported || record.verdict() == Verdict::kSkipped;
}

std::string not_run_text(std::span<const Record> of_case) {
  std::vector<std::pair<std::string_view, std::vector<std::string>>> reasons;
  for (const Record& r : of_case) {
    if (!was_not_run(r)) continue;
    auto known =
        std::ranges::find(reasons, r.reason(), [](const auto& each) { return each.first; });
    if (known == reasons.end()) known = reasons.insert(known, {r.reason(), {}});
    const std::string name = name_of(r, of_case);
    std::vector<std::string>& names = known->second;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string text;
  for (const auto& [reason, names] : reasons) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : " · ", fmt::join(names, ", "), reason);
  }
  return text;
}

}  // namespace attnbench
