// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/merge_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lib/base/error.h"
#include "lib/result/cell_key.h"
#include "lib/result/pooled_record.h"
#include "lib/result/run_difference.h"

namespace attnbench {
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
