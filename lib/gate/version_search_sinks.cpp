// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lib/gate/gate_sinks.h"
#include "lib/gate/gate_text.h"
#include "lib/gate/version_search.h"
#include "lib/view/json.h"
#include "lib/view/table.h"
#include "lib/view/text_layout.h"

namespace attnbench {
namespace {

/// "0.7.0", or the versions of which one it is: "0.6.17 … 0.7.0".
std::string version_text(const VersionSearch& search, const VersionChange& change) {
  const std::string& by = search.versions[change.by];
  const std::string& earliest = search.versions[change.after + 1];
  return plain_line(earliest == by ? by : earliest + " … " + by);
}

std::string kernels_text(const VersionChange& change) {
  return fmt::format("kernel: {} → {}", change.seen.base_kernel, change.seen.new_kernel);
}

/// Why a version between may have made the change as well; empty: the search did not come to it.
std::string why_open(const VersionSearch& search, const VersionChange& change,
                     std::size_t version) {
  if (search.skipped.contains(version)) return search.skipped.at(version);
  const auto untold = change.untold.find(version);
  return untold == change.untold.end() ? "" : untold->second;
}

/// Whether the version did another change than what lies between the ends.
bool is_a_part(const VersionChange& change) {
  if (!change.seen.speed || !change.ends.speed) return false;
  const RatioInterval &seen = change.seen.speed->time, &ends = change.ends.speed->time;
  return seen.hi < ends.lo || ends.hi < seen.lo;
}

/// A change of kernel that goes with one of the verdict is told there.
const VersionChange* kernel_beside(const VersionSearch& search, const VersionChange& change) {
  const auto found = std::ranges::find_if(search.changes, [&](const VersionChange& each) {
    return each.effect == VersionEffect::kKernel && each.ends.cell == change.ends.cell &&
           each.by == change.by && each.after == change.after;
  });
  return found == search.changes.end() ? nullptr : &*found;
}

bool is_told_beside(const VersionSearch& search, const VersionChange& kernel) {
  return std::ranges::any_of(search.changes, [&](const VersionChange& each) {
    return each.effect == VersionEffect::kVerdict && kernel_beside(search, each) == &kernel;
  });
}

std::string lines_below(const VersionSearch& search, const VersionChange& change,
                        const TextOptions& options) {
  std::string text;
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) text += wrapped(plain_line(sentence), options.width, 4);
  };
  if (change.effect == VersionEffect::kVerdict) add(why_text(change.seen));
  if (const VersionChange* const kernel = kernel_beside(search, change)) add(kernels_text(*kernel));
  for (const std::size_t version : versions_between(change)) {
    const std::string why = why_open(search, change, version);
    if (!why.empty()) add(fmt::format("{} does not tell: {}", search.versions[version], why));
  }
  if (is_a_part(change)) {
    const RatioInterval& ends = change.ends.speed->time;
    add(fmt::format("{} {} between the ends: other versions changed it, too",
                    change_text(ends.median), interval_text(ends)));
  }
  return text;
}

Row row_of(const VersionSearch& search, const VersionChange& change, bool with_scenario,
           const TextOptions& options) {
  const Comparison& seen = change.seen;
  Row row{{version_text(search, change), plain_line(search.versions[change.after]),
           plain_line(seen.cell.backend), plain_line(case_text(seen.cell, with_scenario)),
           mode_text(seen.cell), "", "", "", "another kernel"}};
  if (change.effect == VersionEffect::kVerdict) {
    row.cells[5] = times_text(seen);
    row.cells[8] = verdict_text(seen);
    if (seen.speed) {
      row.cells[6] = change_text(seen.speed->time.median);
      row.cells[7] = interval_text(seen.speed->time);
    }
  }
  row.below = lines_below(search, change, options);
  return row;
}

std::vector<const VersionChange*> by_version(const VersionSearch& search) {
  std::vector<const VersionChange*> changes;
  for (const VersionChange& each : search.changes) {
    const bool of_its_own = each.effect == VersionEffect::kVerdict || !is_told_beside(search, each);
    if (of_its_own) changes.push_back(&each);
  }
  std::ranges::stable_sort(
      changes, {}, [](const VersionChange* each) { return std::tuple(each->by, each->after); });
  return changes;
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

bool is_undecided(GateVerdict verdict) {
  using enum GateVerdict;
  return verdict == kNotComparable || verdict == kSuspect || verdict == kNoVerdict ||
         verdict == kInconclusive;
}

std::string closing_line(const VersionSearch& search, const TextOptions& options, int exit_code) {
  std::set<CellKey> changed;
  for (const VersionChange& each : search.changes) changed.insert(each.ends.cell);
  const auto undecided = static_cast<std::size_t>(
      std::ranges::count_if(search.ends.cells, [&](const Comparison& each) {
        return !changed.contains(each.cell) && is_undecided(each.judgement.verdict);
      }));
  std::vector<std::string> parts = {
      counted(changed.size(), "cell") + " changed",
      fmt::format("{} without a change", search.ends.cells.size() - changed.size() - undecided)};
  if (undecided > 0) parts.push_back(fmt::format("{} undecided", undecided));
  parts.push_back(counted(static_cast<std::size_t>(search.comparisons), "comparison"));
  if (search.interrupted) parts.emplace_back("interrupted");
  parts.push_back(fmt::format("exit {}", exit_code));
  return join_parts(parts, options.width, 2) + '\n';
}

}  // namespace

void write_versions_terminal(const VersionSearch& search, const TextOptions& options, int exit_code,
                             std::ostream& out) {
  const std::string range = plain_line(
      fmt::format("{} {} → {}", search.package, search.versions.front(), search.versions.back()));
  out << wrapped(range + ":", options.width, 0);
  write_gate_terminal(search.ends, {.colour = options.colour, .width = options.width}, out);
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  Table table{.columns = {{"changed by", kLeft, 0},
                          {"after"},
                          {"backend", kLeft, 2, 0, kWidestName},
                          {"case", kLeft, 2, 0, kWidestName},
                          {"cache"},
                          {"base → new"},
                          {"change", kRight},
                          {"interval", kRight},
                          {"verdict"}}};
  const bool with_scenario = has_several_scenarios(search.ends);
  for (const VersionChange* const each : by_version(search)) {
    table.rows.push_back(row_of(search, *each, with_scenario, options));
  }
  if (!table.rows.empty()) out << '\n' << terminal_text(table);
  for (const auto& [version, why] : search.skipped) {
    out << wrapped(
        plain_line(fmt::format("note: {} was skipped: {}", search.versions[version], why)),
        options.width, 0);
  }
  if (!search.trouble.empty()) {
    out << wrapped(plain_line("note: the search ended early: " + search.trouble), options.width, 0);
  }
  out << closing_line(search, options, exit_code);
}

namespace {

Json change_json(const VersionSearch& search, const VersionChange& change) {
  Json may_be_by = Json::array();
  for (const std::size_t version : versions_between(change)) {
    may_be_by.push_back(
        {{"version", search.versions[version]}, {"reason", why_open(search, change, version)}});
  }
  return {{"effect", change.effect == VersionEffect::kVerdict ? "verdict" : "kernel"},
          {"changed_by", search.versions[change.by]},
          {"after", search.versions[change.after]},
          {"may_be_by", may_be_by},
          {"seen", comparison_json(change.seen)}};
}

}  // namespace

void write_versions_json(const VersionSearch& search, int exit_code, std::ostream& out) {
  Json root = {{"schema", "attnbench.versions"},
               {"schema_version", "1.0.0"},
               {"package", search.package},
               {"versions", search.versions},
               {"skipped", Json::array()},
               {"comparisons", search.comparisons},
               {"interrupted", search.interrupted},
               {"ended", search.trouble},
               {"exit_code", exit_code},
               {"remarks", search.ends.remarks},
               {"cells", Json::array()}};
  for (const auto& [version, why] : search.skipped) {
    root["skipped"].push_back({{"version", search.versions[version]}, {"reason", why}});
  }
  for (const Comparison& each : search.ends.cells) {
    Json cell = comparison_json(each);
    cell["changes"] = Json::array();
    for (const VersionChange& change : search.changes) {
      if (change.ends.cell == each.cell) cell["changes"].push_back(change_json(search, change));
    }
    root["cells"].push_back(cell);
  }
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
