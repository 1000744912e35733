// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/merge_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lib/base/error.h"
#include "lib/measure/statistics.h"
#include "lib/result/record.h"
#include "lib/result/run_difference.h"

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
  auto& completed = std::get<Completed>(all.outcome);
  if (completed.check != Check::kMistrusted) completed.reason = open_reason(all.timing);
  all.plan = pooled_host_timing(timed, &Record::plan);
  all.update = pooled_host_timing(timed, &Record::update);
  all.roofline = middle_of(timed, [](const Record& r) { return r.roofline * r.timing.median_us; }) /
                 all.timing.median_us;
  all.aa = {};
  all.samples_checked = 0;
  for (const Record* one : timed) all.samples_checked += one->samples_checked;
  return all;
}

namespace {

void expect_mergeable(const NamedRun& a, const NamedRun& b, const MergeRules& rules) {
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    throw ConfigError(
        fmt::format("{} and {} do not belong together: {}{}", a.path, b.path, what, hint));
  };
  if (const auto found = machine_difference(a.run, b.run); !found.empty() && !rules.mixed_machines)
    refuse(found, "\n   --mixed-machines joins them all the same");
  if (const auto found = binary_difference(a.run, b.run); !found.empty() && !rules.mixed_binaries)
    refuse(found, "\n   --mixed-binaries joins them all the same");
  if (const auto found = plugin_difference(a.run, b.run); !found.empty() && !rules.mixed_binaries)
    refuse(found, "\n   --mixed-binaries joins them all the same");
  if (const auto found = scenario_difference(a.run, b.run); !found.empty()) refuse(found, "");
}

/// A run that is named twice would count twice, and narrow the interval.
void expect_separate_runs(const std::vector<NamedRun>& runs) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const RunResult &a = runs[j].run, &b = runs[i].run;
      if (a.environment.started_utc != b.environment.started_utc || a.wall_s != b.wall_s) continue;
      throw ConfigError(fmt::format("{} and {} are the same run, which cannot count twice",
                                    runs[j].path, runs[i].path));
    }
  }
}

bool same_device(const DeviceRates& a, const DeviceRates& b) {
  return a.device.name == b.device.name &&
         a.ceilings.read_bytes_per_s == b.ceilings.read_bytes_per_s &&
         a.ceilings.copy_bytes_per_s == b.ceilings.copy_bytes_per_s &&
         a.ceilings.flop_per_s == b.ceilings.flop_per_s;
}

/// Everything but its records joins `all`.
void join_header(RunResult& all, const RunResult& run, bool pooled) {
  for (const DeviceRates& device : run.devices) {
    const auto same = [&](const DeviceRates& known) {
      return pooled ? known.device.name == device.device.name : same_device(known, device);
    };
    if (std::ranges::none_of(all.devices, same)) all.devices.push_back(device);
  }
  for (const ScenarioSource& source : run.scenarios) {
    if (std::ranges::find(all.scenarios, source) == all.scenarios.end()) {
      all.scenarios.push_back(source);
    }
  }
  for (const InputFile& plugin : run.plugins) {
    if (std::ranges::find(all.plugins, plugin) == all.plugins.end()) all.plugins.push_back(plugin);
  }
  if (run.others.busy_processors > all.others.busy_processors) all.others = run.others;
  all.wall_s += run.wall_s;
  add(all.spent, run.spent);
}

bool was_reached(const Record& record) {
  return record.timing.status != MeasureStatus::kInterrupted;
}

/// A record in the merged list, and the file that it is from.
struct Origin {
  std::size_t place;
  std::string path;
};

/// Which of two records of one cell stays: true, the later.
bool later_stays(const Record& earlier, const Record& later, const Origin& origin,
                 const std::string& path, const MergeRules& rules) {
  if (was_reached(earlier) != was_reached(later)) return was_reached(later);
  if (!was_reached(later)) return false;
  if (rules.winner) return *rules.winner == DuplicateWinner::kLast;
  throw ConfigError(
      fmt::format("{} and {} both measured {}\n"
                  "   --duplicates first or --duplicates last says which counts",
                  origin.path, path, to_string(CellKey(later))));
}

/// Each cell's records become one, where its first one stood.
std::vector<Record> pooled(std::vector<NamedRun>& runs, double precision) {
  std::map<CellKey, std::size_t> places;
  std::vector<std::vector<Record>> cells;
  for (NamedRun& next : runs) {
    for (Record& record : next.run.records) {
      const auto [at, is_new] = places.emplace(CellKey(record), cells.size());
      if (is_new) cells.emplace_back();
      cells[at->second].push_back(std::move(record));
    }
  }
  std::vector<Record> records;
  for (const std::vector<Record>& cell : cells) records.push_back(pooled_record(cell, precision));
  return records;
}

/// The records of all, in their order; of each cell one.
std::vector<Record> joined(std::vector<NamedRun>& runs, const MergeRules& rules) {
  std::vector<Record> records;
  std::map<CellKey, Origin> known;
  for (NamedRun& next : runs) {
    for (Record& record : next.run.records) {
      const auto [at, is_new] = known.emplace(CellKey(record), Origin{records.size(), next.path});
      if (is_new) {
        records.push_back(std::move(record));
        continue;
      }
      Record& earlier = records[at->second.place];
      if (!later_stays(earlier, record, at->second, next.path, rules)) continue;
      earlier = std::move(record);
      at->second.path = next.path;
    }
  }
  return records;
}

}  // namespace

RunResult merge_runs(std::vector<NamedRun> runs, const MergeRules& rules) {
  expects(!runs.empty(), "there is nothing to merge");
  for (const NamedRun& run : runs) expect_mergeable(runs.front(), run, rules);
  if (rules.pool_precision) expect_separate_runs(runs);
  RunResult all = runs.front().run;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    join_header(all, runs[i].run, rules.pool_precision.has_value());
  }
  all.records = rules.pool_precision ? pooled(runs, *rules.pool_precision) : joined(runs, rules);
  all.interrupted =
      std::ranges::any_of(all.records, [](const Record& record) { return !was_reached(record); });
  return all;
}

}  // namespace attnbench
