// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/crossover.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace attnbench {
namespace {

bool has_problem(const CrossoverPoint& point) { return !point.problem.empty(); }

bool is_known(std::span<const CrossoverPoint> points, std::int64_t value) {
  return std::ranges::find(points, value, &CrossoverPoint::value) != points.end();
}

double width_of(std::int64_t low, std::int64_t high) {
  return std::log(static_cast<double>(high) / static_cast<double>(low));
}

bool close_enough(std::int64_t low, std::int64_t high) {
  return high - low <= 1 ||
         static_cast<double>(high - low) < kCrossoverPrecision * static_cast<double>(low);
}

/// A value strictly between two that are no neighbours.
std::int64_t middle_of(std::int64_t low, std::int64_t high) {
  const auto middle = static_cast<std::int64_t>(
      std::llround(std::sqrt(static_cast<double>(low) * static_cast<double>(high))));
  const auto step = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(middle / 32, 1))));
  const std::int64_t rounded = (middle + step / 2) / step * step;
  return rounded > low && rounded < high ? rounded : std::clamp(middle, low + 1, high - 1);
}

/// The middle of the widest gap that is asked for.
template <class Wanted>
std::optional<std::int64_t> widest_gap(std::span<const CrossoverPoint> sorted,
                                       const Wanted& wanted) {
  std::optional<std::int64_t> middle;
  double widest = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const std::int64_t low = sorted[i - 1].value, high = sorted[i].value;
    if (close_enough(low, high) || !wanted(sorted[i - 1], sorted[i])) continue;
    if (width_of(low, high) <= widest) continue;
    widest = width_of(low, high);
    middle = middle_of(low, high);
  }
  return middle;
}

bool leads_differ(const CrossoverPoint& a, const CrossoverPoint& b) {
  return lead_of(a.speed) != lead_of(b.speed);
}

}  // namespace

Lead lead_of(const SpeedEvidence& speed) {
  if (speed.time.lo > 1) return Lead::kBase;
  return speed.time.hi < 1 ? Lead::kNew : Lead::kTie;
}

std::optional<std::int64_t> next_probe(std::span<const CrossoverPoint> points,
                                       const CrossoverAxis& axis) {
  if (std::ranges::any_of(points, has_problem)) return std::nullopt;
  if (std::cmp_greater_equal(points.size(), axis.most_points)) return std::nullopt;
  for (const std::int64_t end : {axis.from, axis.to}) {
    if (!is_known(points, end)) return end;
  }
  std::vector<CrossoverPoint> sorted(points.begin(), points.end());
  std::ranges::sort(sorted, {}, &CrossoverPoint::value);
  if (const auto value = widest_gap(sorted, leads_differ)) return value;
  const bool agree = stretches_of(sorted).size() == 1;
  if (!agree || sorted.size() >= 2 + kCrossoverBetween) return std::nullopt;
  return widest_gap(sorted, [](const auto&, const auto&) { return true; });
}

std::vector<CrossoverStretch> stretches_of(std::span<const CrossoverPoint> points) {
  std::vector<CrossoverPoint> sorted(points.begin(), points.end());
  std::erase_if(sorted, has_problem);
  std::ranges::sort(sorted, {}, &CrossoverPoint::value);
  std::vector<CrossoverStretch> stretches;
  for (const CrossoverPoint& point : sorted) {
    const Lead lead = lead_of(point.speed);
    if (stretches.empty() || stretches.back().lead != lead) {
      stretches.push_back({lead, point.value, point.value});
    }
    stretches.back().last = point.value;
  }
  return stretches;
}

std::vector<CrossoverBracket> brackets_of(std::span<const CrossoverStretch> stretches) {
  std::vector<CrossoverBracket> brackets;
  const CrossoverStretch* winner = nullptr;
  for (const CrossoverStretch& each : stretches) {
    if (each.lead == Lead::kTie) continue;
    if (winner != nullptr && winner->lead != each.lead) {
      brackets.push_back({winner->lead, each.lead, winner->last, each.first});
    }
    winner = &each;
  }
  return brackets;
}

const std::string& side_of(const CrossoverReport& report, Lead lead) {
  const bool of_base = lead == Lead::kBase;
  if (!report.new_case.empty() && report.new_case != report.case_id) {
    return of_base ? report.case_id : report.new_case;
  }
  if (report.base != report.now) return of_base ? report.base : report.now;
  return of_base ? report.step : report.new_step;
}

void search_crossover(const CrossoverAxis& axis, const CrossoverProbe& probe,
                      CrossoverReport& report) {
  std::vector<CrossoverPoint>& points = report.points;
  while (const auto value = next_probe(points, axis)) {
    const auto point = probe(*value);
    if (!point) {
      report.ended = "stopped before the end";
      report.interrupted = true;
      break;
    }
    points.push_back(*point);
  }
  std::ranges::sort(points, {}, &CrossoverPoint::value);
  if (!report.ended.empty()) return;
  const auto failed = std::ranges::find_if(points, has_problem);
  if (failed != points.end()) {
    report.ended = fmt::format("ended at {}, which has no ratio", failed->value);
  } else if (widest_gap(points, leads_differ)) {
    report.ended = fmt::format("ended after {} points (--points)", points.size());
  }
}

}  // namespace attnbench
