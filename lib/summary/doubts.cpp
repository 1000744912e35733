// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lib/summary/brief_reason.h"
#include "lib/summary/convergence_advice.h"

namespace attnbench {
namespace {

/// "2 cells are", "1 cell is".
std::string cells_are(std::ptrdiff_t count) {
  return fmt::format("{} cell{}", count, count == 1 ? " is" : "s are");
}

/// "2 cells are MISTRUSTED: zeros would pass …", once for each reason.
void add_mistrusted(const RunResult& run, std::vector<std::string>& doubts) {
  std::vector<std::pair<std::string, int>> reasons;
  for (const Record& record : run.records) {
    if (record.verdict() != Verdict::kMistrusted) continue;
    const std::string reason = brief_reason(record);
    const auto known = std::ranges::find(reasons, reason, &std::pair<std::string, int>::first);
    if (known == reasons.end()) {
      reasons.emplace_back(reason, 1);
    } else {
      ++known->second;
    }
  }
  // Reasons with figures in them may all differ: the rows have them.
  constexpr std::size_t kMostReasons = 3;
  if (reasons.size() > kMostReasons) {
    const auto all = std::ranges::count(run.records, Verdict::kMistrusted, &Record::verdict);
    doubts.push_back(fmt::format("{} MISTRUSTED, for {} reasons, such as: {}", cells_are(all),
                                 reasons.size(), reasons.front().first));
    return;
  }
  for (const auto& [reason, count] : reasons) {
    doubts.push_back(fmt::format("{} MISTRUSTED: {}", cells_are(count), reason));
  }
}

}  // namespace

std::vector<std::string> doubts_of(const RunResult& run) {
  std::vector<std::string> doubts;
  if (std::string busy = disturbance_text(run); !busy.empty()) {
    doubts.push_back(std::move(busy));
  }
  if (std::string sharers = sharers_text(run); !sharers.empty()) {
    doubts.push_back(std::move(sharers));
  }
  const auto throttled = std::ranges::count_if(run.records, [](const Record& record) {
    return record.claims_speed() && record.timing.status == MeasureStatus::kThrottled;
  });
  if (throttled > 0) {
    doubts.push_back(fmt::format("{} figure{} of a device that slowed down (throttled)", throttled,
                                 throttled == 1 ? " is" : "s are"));
  }
  add_mistrusted(run, doubts);
  const auto unverified = std::ranges::count_if(run.records, [](const Record& record) {
    return record.claims_speed() && record.verdict() == Verdict::kNotVerified;
  });
  if (unverified > 0) {
    doubts.push_back(fmt::format("{} not verified: {} time may be that of a wrong result",
                                 cells_are(unverified), unverified == 1 ? "its" : "their"));
  }
  if (run.interrupted) doubts.emplace_back("the run was interrupted");
  return doubts;
}

}  // namespace attnbench
