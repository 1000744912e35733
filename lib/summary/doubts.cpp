// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lib/result/record_text.h"
#include "lib/summary/brief_reason.h"
#include "lib/summary/sweep_trend.h"

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
  if (std::string off = off_trend_text(run); !off.empty()) doubts.push_back(std::move(off));
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

namespace {

/// Threads of the processor that take part; 0 when a GPU alone does.
int threads_of(const RunResult& run) {
  for (const DeviceRates& each : run.devices) {
    if (each.device.kind == DeviceKind::kCpu) return each.device.units;
  }
  return 0;
}

}  // namespace

std::string convergence_advice(const RunResult& run, double precision) {
  const auto figures = std::ranges::count_if(run.records, &Record::claims_speed);
  const auto unsettled = std::ranges::count_if(run.records, ran_out_of_time);
  if (2 * unsettled <= figures) return disturbance_text(run);
  std::string text =
      fmt::format("{} of {} figures missed ±{:g} %: ", unsettled, figures, precision * 100);
  const std::string disturbance = disturbance_text(run.others);
  if (disturbance.empty()) {
    return text + "try a longer --cell-timeout, more --rounds or a wider --precision";
  }
  text += disturbance + "; try --quiet-wait 5min, ";
  const int threads = threads_of(run);
  if (threads > 1) text += fmt::format("--threads {}, ", threads - 1);
  return text + "a longer --cell-timeout or a wider --precision";
}

std::string disturbance_text(const RunResult& run) {
  const bool suffers = std::ranges::any_of(run.records, [](const Record& record) {
    return record.claims_speed() && !has_device_timer(record);
  });
  return suffers ? disturbance_text(run.others) : "";
}

std::string disturbance_text(const OtherPrograms& others) {
  if (!others.disturb()) return {};
  return fmt::format("other programs kept {:.1f} of {} processors busy", others.busy_processors,
                     others.processors);
}

std::string sharers_text(const RunResult& run) {
  GpuSharers most;
  std::int64_t shared = 0, figures = 0;
  for (const Record& each : run.records) {
    if (!each.claims_speed() || !each.timing.sharers.known()) continue;
    ++figures;
    if (!each.timing.sharers.disturb()) continue;
    ++shared;
    most |= each.timing.sharers;
  }
  if (shared == 0) return {};
  const std::string memory =
      most.memory_bytes == 0
          ? ""
          : fmt::format(" ({:.1f} GB)", static_cast<double>(most.memory_bytes) / 1e9);
  return fmt::format("{} other process{}{} had the GPU open in {} of {} figures", most.processes,
                     most.processes == 1 ? "" : "es", memory, shared, figures);
}

}  // namespace attnbench
