// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/sweep_trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/result/csv_columns.h"
#include "lib/result/record_text.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

constexpr double kMostOff = 2;

/// What the points of a curve share: all but the value at `along`.
struct CurveKey {
  std::string scenario, mix, backend, device, along;
  StepPart step;
  CacheState cache;
  LaunchMode launch;
  SweptValues others;

  auto operator<=>(const CurveKey&) const = default;
};

using Curve = std::map<double, const Record*>;  // by swept value; of equal ones the first counts

std::map<CurveKey, Curve> curves_of(const RunResult& run) {
  std::map<CurveKey, Curve> curves;
  for (const Record& r : run.records) {
    if (!r.claims_speed() || r.timing.median_us <= 0) continue;
    for (const auto& [path, number] : swept_numbers(r)) {
      if (number <= 0) continue;  // no logarithm
      SweptValues others = r.sweep;
      std::erase_if(others, [&key = path](const auto& each) { return each.first == key; });
      curves[{r.scenario, r.mix, r.backend, r.device, path, r.step, r.cache, r.launch,
              std::move(others)}]
          .emplace(number, &r);
    }
  }
  return curves;
}

/// 1 of a point that is not off.
double ratio_to_trend(const Curve::value_type& before, const Curve::value_type& point,
                      const Curve::value_type& after) {
  const auto log_time = [](const Curve::value_type& at) {
    return std::log(at.second->timing.median_us);
  };
  const auto log_value = [](const Curve::value_type& at) { return std::log(at.first); };
  const double low = log_time(before), high = log_time(after), here = log_time(point);
  if (here >= std::min(low, high) && here <= std::max(low, high)) return 1;
  const double share =
      (log_value(point) - log_value(before)) / (log_value(after) - log_value(before));
  return std::exp(here - (low + share * (high - low)));
}

double factor_of(double ratio) { return std::max(ratio, 1 / ratio); }

/// Of each point of the curve; 1 at its ends.
std::vector<double> ratios_of(const Curve& curve) {
  std::vector<double> ratios(curve.size(), 1);
  if (curve.size() < 3) return ratios;
  std::size_t i = 1;
  for (auto point = std::next(curve.begin()); std::next(point) != curve.end(); ++point) {
    ratios[i++] = ratio_to_trend(*std::prev(point), *point, *std::next(point));
  }
  return ratios;
}

}  // namespace

std::vector<OffTrend> off_trend(const RunResult& run) {
  std::vector<OffTrend> found;
  for (const auto& [key, curve] : curves_of(run)) {
    const std::vector<double> ratios = ratios_of(curve);
    std::size_t i = 0;
    for (const auto& [value, record] : curve) {
      const double factor = factor_of(ratios[i]);
      // A point beside a spike lies beyond its neighbours, too.
      const bool is_beside = (i > 0 && factor_of(ratios[i - 1]) > factor) ||
                             (i + 1 < ratios.size() && factor_of(ratios[i + 1]) > factor);
      if (factor > kMostOff && !is_beside) found.push_back({record, key.along, ratios[i]});
      ++i;
    }
  }
  return found;
}

std::string off_trend_text(const RunResult& run) {
  const std::vector<OffTrend> found = off_trend(run);
  if (found.empty()) return {};
  const OffTrend& farthest = *std::ranges::max_element(
      found, {}, [](const OffTrend& each) { return factor_of(each.ratio); });
  return fmt::format(
      "{} figure{} more than {:g} × off the trend of {} sweep: {} takes {} × what its neighbours "
      "along {} lead to expect",
      found.size(), found.size() == 1 ? " is" : "s are", kMostOff,
      found.size() == 1 ? "its" : "their", cell_name(run, *farthest.record),
      three_digits(farthest.ratio), farthest.along);
}

}  // namespace attnbench
