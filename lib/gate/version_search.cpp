// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/version_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "lib/base/error.h"
#include "lib/gate/gate_verdict.h"

namespace attnbench {
namespace {

using enum GateVerdict;

bool is_one_of(GateVerdict verdict, std::initializer_list<GateVerdict> verdicts) {
  return std::ranges::find(verdicts, verdict) != verdicts.end();
}

GateVerdict verdict_of(const Comparison& comparison) { return comparison.judgement.verdict; }

bool is_by_time(const Comparison& comparison) {
  return is_one_of(verdict_of(comparison), {kRegressed, kImproved}) && !comparison.failed_before;
}

bool is_change_of_verdict(const Comparison& ends) {
  const bool for_all = ends.cell.case_id == "*";  // of a program that had no result at all
  const bool wrong_before = verdict_of(ends) == kIncorrect && ends.failed_before;
  return !for_all && !wrong_before &&
         is_one_of(verdict_of(ends),
                   {kIncorrect, kRegressed, kMissing, kSkippedNow, kNew, kImproved});
}

enum class Answer : std::uint8_t { kChanged, kUnchanged, kUntold };

Answer answer_if(bool changed, bool unchanged) {
  return changed ? Answer::kChanged : unchanged ? Answer::kUnchanged : Answer::kUntold;
}

/// Whether a comparison with a version that is as the first one shows what the ends show.
Answer answer_of(const VersionChange& change, const Comparison& probe) {
  if (change.effect == VersionEffect::kKernel) {
    const bool told = !probe.base_kernel.empty() && !probe.new_kernel.empty();
    const bool other = probe.base_kernel != probe.new_kernel;
    return answer_if(told && other, told && !other);
  }
  const GateVerdict asked = verdict_of(change.ends), said = verdict_of(probe);
  const bool as_asked = said == asked && probe.failed_before == change.ends.failed_before;
  // What was measured is right.
  const bool ran =
      is_one_of(said, {kRegressed, kInconclusive, kImproved, kSame}) && !probe.failed_before;
  switch (asked) {
    case kIncorrect:
      return answer_if(as_asked, ran);
    case kMissing:
    case kSkippedNow:
      return answer_if(is_one_of(said, {kMissing, kSkippedNow}), ran || said == kIncorrect);
    case kNew:
      return answer_if(as_asked, said == kNotRun);
    case kImproved:
      if (change.ends.failed_before) return answer_if(as_asked, said == kIncorrect);
      [[fallthrough]];
    default:
      return answer_if(as_asked, ran && said != kInconclusive);
  }
}

std::string why_untold(const Comparison& probe) {
  const std::string why = why_text(probe);
  return verdict_text(probe) + (why.empty() ? "" : ": ") + why;
}

/// The version to try next for a change: the middle one of those that may decide it, or else the
/// nearest to it. None: the search is over.
std::optional<std::size_t> next_version(const VersionSearch& search, const VersionChange& change) {
  std::optional<std::size_t> next;
  const auto off_middle = [&](std::size_t version) {
    return std::abs(2 * static_cast<std::ptrdiff_t>(version) -
                    static_cast<std::ptrdiff_t>(change.after + change.by));
  };
  for (const std::size_t version : versions_between(change)) {
    if (search.skipped.contains(version) || change.untold.contains(version)) continue;
    if (!next || off_middle(version) < off_middle(*next)) next = version;
  }
  return next;
}

/// Changes that one comparison can decide.
struct Step {
  std::size_t base = 0, now = 0;
  std::vector<VersionChange*> changes;

  [[nodiscard]] std::vector<CellKey> cells() const {
    std::vector<CellKey> cells;
    for (const VersionChange* const each : changes) {
      if (std::ranges::find(cells, each->ends.cell) == cells.end()) {
        cells.push_back(each->ends.cell);
      }
    }
    return cells;
  }
  /// A crash may take many processes to show, as a time does.
  [[nodiscard]] bool needs_times() const {
    return std::ranges::any_of(changes, [](const VersionChange* each) {
      return each->effect == VersionEffect::kVerdict &&
             (is_by_time(each->ends) || verdict_of(each->ends) == kIncorrect);
    });
  }
};

std::optional<Step> next_step(VersionSearch& search) {
  std::optional<Step> step;
  for (VersionChange& each : search.changes) {
    const auto version = next_version(search, each);
    if (!version) continue;
    if (!step) step = Step{each.after, *version, {}};
    if (step->base == each.after && step->now == *version) step->changes.push_back(&each);
  }
  return step;
}

/// What `report` says of the step's changes.
void take(const GateReport& report, const Step& step) {
  for (VersionChange* const change : step.changes) {
    const auto found = std::ranges::find(report.cells, change->ends.cell, &Comparison::cell);
    if (found == report.cells.end()) {
      const std::string why = report.remarks.empty() ? "" : ": " + report.remarks.front();
      change->untold.emplace(step.now, "not measured" + why);
      continue;
    }
    switch (answer_of(*change, *found)) {
      case Answer::kChanged:
        change->by = step.now;
        change->seen = *found;
        break;
      case Answer::kUnchanged:
        change->after = step.now;
        break;
      case Answer::kUntold:
        change->untold.emplace(step.now, why_untold(*found));
        break;
    }
  }
}

void note_changes(VersionSearch& search) {
  const std::size_t last = search.versions.size() - 1;
  for (const Comparison& each : search.ends.cells) {
    const auto note = [&](VersionEffect effect) {
      search.changes.push_back(
          {.effect = effect, .ends = each, .seen = each, .after = 0, .by = last, .untold = {}});
    };
    if (is_change_of_verdict(each)) note(VersionEffect::kVerdict);
    const bool told = !each.base_kernel.empty() && !each.new_kernel.empty();
    if (told && each.base_kernel != each.new_kernel) note(VersionEffect::kKernel);
  }
}

void compare_ends(const VersionProbe& probe, VersionSearch& search) {
  const std::size_t last = search.versions.size() - 1;
  for (const std::size_t end : {std::size_t{0}, last}) {
    const std::string why = probe.install(end);
    if (probe.stop_requested()) return;
    if (why.empty()) continue;
    throw EnvironmentError(fmt::format("{} {} cannot be had, so name another end: {}",
                                       search.package, search.versions[end], why));
  }
  search.ends = probe.compare(0, last, {}, true);
  ++search.comparisons;
}

void bisect(const VersionProbe& probe, VersionSearch& search) {
  while (const auto step = next_step(search)) {
    const std::string why = probe.install(step->now);
    if (probe.stop_requested()) return;
    if (!why.empty()) {
      search.skipped.emplace(step->now, why);
      continue;
    }
    const GateReport report =
        probe.compare(step->base, step->now, step->cells(), step->needs_times());
    ++search.comparisons;
    // Few pairs decide less than all of them: a comparison that was stopped counts for nothing.
    if (probe.stop_requested()) return;
    take(report, *step);
  }
}

}  // namespace

void search_versions(const VersionProbe& probe, VersionSearch& search) {
  compare_ends(probe, search);
  note_changes(search);
  try {
    if (!probe.stop_requested()) bisect(probe, search);
  } catch (const EnvironmentError& error) {
    search.trouble = error.what();
  }
  search.interrupted = probe.stop_requested();
}

std::vector<std::size_t> versions_between(const VersionChange& change) {
  std::vector<std::size_t> versions;
  for (std::size_t version = change.after + 1; version < change.by; ++version) {
    versions.push_back(version);
  }
  return versions;
}

}  // namespace attnbench
