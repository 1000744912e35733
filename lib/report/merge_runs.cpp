// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/merge_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lib/base/error.h"
#include "lib/bench/cell_key.h"
#include "lib/report/run_difference.h"

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
  if (const auto found = scenario_difference(a.run, b.run); !found.empty()) refuse(found, "");
}

bool same_device(const DeviceRates& a, const DeviceRates& b) {
  return a.device.name == b.device.name &&
         a.ceilings.read_bytes_per_s == b.ceilings.read_bytes_per_s &&
         a.ceilings.copy_bytes_per_s == b.ceilings.copy_bytes_per_s &&
         a.ceilings.flop_per_s == b.ceilings.flop_per_s;
}

/// Everything but its records joins `all`.
void join_header(RunResult& all, const RunResult& run) {
  for (const DeviceRates& device : run.devices) {
    const auto same = [&](const DeviceRates& known) { return same_device(known, device); };
    if (std::ranges::none_of(all.devices, same)) all.devices.push_back(device);
  }
  for (const ScenarioSource& source : run.scenarios) {
    if (std::ranges::find(all.scenarios, source) == all.scenarios.end()) {
      all.scenarios.push_back(source);
    }
  }
  all.wall_s += run.wall_s;
  all.measuring_s += run.measuring_s;
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

}  // namespace

RunResult merge_runs(std::vector<NamedRun> runs, const MergeRules& rules) {
  expects(!runs.empty(), "there is nothing to merge");
  RunResult all = runs.front().run;
  all.records.clear();
  std::map<CellKey, Origin> known;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    NamedRun& next = runs[i];
    expect_mergeable(runs.front(), next, rules);
    if (i > 0) join_header(all, next.run);
    for (Record& record : next.run.records) {
      const auto [at, is_new] =
          known.emplace(CellKey(record), Origin{all.records.size(), next.path});
      if (is_new) {
        all.records.push_back(std::move(record));
        continue;
      }
      Record& earlier = all.records[at->second.place];
      if (!later_stays(earlier, record, at->second, next.path, rules)) continue;
      earlier = std::move(record);
      at->second.path = next.path;
    }
  }
  all.interrupted =
      std::ranges::any_of(all.records, [](const Record& record) { return !was_reached(record); });
  return all;
}

}  // namespace attnbench
