// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/pooled_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "lib/base/error.h"
#include "lib/measure/statistics.h"

namespace attnbench {
namespace {

/// The median over the processes of the figure that `figure_of` reads from a timing or a record.
template <typename Value, typename FigureOf>
double middle_of(const std::vector<const Value*>& values, FigureOf figure_of) {
  std::vector<double> figures;
  for (const Value* value : values) figures.push_back(figure_of(*value));
  return median(figures);
}

CellTiming pooled_timing(const std::vector<const CellTiming*>& processes, double precision) {
  CellTiming all = *processes.front();
  all.blocks.clear();
  std::vector<double> medians;
  for (const CellTiming* one : processes) {
    all.blocks.push_back({static_cast<int>(medians.size()), one->median_us});
    medians.push_back(one->median_us);
    if (medians.size() == 1) continue;
    all.samples += one->samples;
    all.discarded += one->discarded;
    all.clock_events |= one->clock_events;
    all.sharers |= one->sharers;
    all.min_us = std::min(all.min_us, one->min_us);
    all.max_us = std::max(all.max_us, one->max_us);
  }
  const MedianInterval interval = median_interval(medians, kIntervalLevel);
  all.median_us = median(medians);
  all.lo_us = interval.lo;
  all.hi_us = interval.hi;
  all.rounds = static_cast<int>(medians.size());
  const bool is_narrow = interval.k > 0 && all.half_width() <= precision;
  all.status = is_narrow ? MeasureStatus::kConverged : MeasureStatus::kNoisy;
  all.q1_us = middle_of(processes, [](const CellTiming& t) { return t.q1_us; });
  all.q3_us = middle_of(processes, [](const CellTiming& t) { return t.q3_us; });
  all.enqueue_us = middle_of(processes, [](const CellTiming& t) { return t.enqueue_us; });
  all.sm_mhz = middle_of(processes, [](const CellTiming& t) { return t.sm_mhz; });
  return all;
}

/// What keeps a pooled figure from having converged; empty when it has.
std::string open_reason(const CellTiming& timing) {
  if (timing.status == MeasureStatus::kConverged) return "";
  if (timing.rounds < kFewestRounds) {
    return fmt::format("{} processes: too few for an interval", timing.rounds);
  }
  return fmt::format("{} processes give no narrower interval", timing.rounds);
}

HostTiming pooled_host_timing(const std::vector<const Record*>& processes,
                              HostTiming Record::*figure) {
  HostTiming all;
  all.median_us = middle_of(processes, [figure](const Record& r) { return (r.*figure).median_us; });
  for (const Record* one : processes) all.max_us = std::max(all.max_us, (one->*figure).max_us);
  return all;
}

}  // namespace

Record pooled_record(std::span<const Record> processes, double precision) {
  expects(!processes.empty(), "a cell of no process");
  const auto failed = std::ranges::find_if(processes, &Record::has_failed);
  if (failed != processes.end()) return *failed;
  std::vector<const Record*> timed;
  std::vector<const CellTiming*> timings, batched;
  for (const Record& record : processes) {
    if (!record.claims_speed()) continue;
    timed.push_back(&record);
    timings.push_back(&record.timing);
    if (record.graph_n.timed()) batched.push_back(&record.graph_n.timing);
  }
  if (timed.empty()) return processes.front();

  Record all = **std::ranges::max_element(timed, {}, [](const Record* r) {
    return std::max(r->error.bound_ratio, r->error.lse_bound_ratio);
  });
  all.timing = pooled_timing(timings, precision);
  if (!batched.empty()) {
    all.graph_n.timing = pooled_timing(batched, precision);
    all.graph_n.reason.clear();
  }
  auto& accepted = std::get<Accepted>(all.outcome);
  if (accepted.agreement != Agreement::kMistrusted) accepted.reason = open_reason(all.timing);
  all.plan = pooled_host_timing(timed, &Record::plan);
  all.update = pooled_host_timing(timed, &Record::update);
  all.roofline = middle_of(timed, [](const Record& r) { return r.roofline * r.timing.median_us; }) /
                 all.timing.median_us;
  all.aa = {};
  all.samples_checked = 0;
  for (const Record* one : timed) all.samples_checked += one->samples_checked;
  return all;
}

}  // namespace attnbench
