// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "lib/base/dtype.h"
#include "lib/verify/error_model.h"

namespace attnbench {
namespace {

/// With fewer keys most rows are what one gets with some factor.
constexpr std::int64_t kFewestKeys = 4;
/// Fitting computes a row some 140 times.
constexpr std::int64_t kMostKeysToFit = 8192;
/// Fitted factors lie between 1/32 and 32.
constexpr double kOctaves = 5;

/// The rows that the query gives with its logits times each of `factors`.
std::vector<ReferenceRow> rows_with(const Case& c, const Contents& contents, const RowId& id,
                                    std::span<const double> factors) {
  std::vector<reference::RowVariant> variants;
  for (const double factor : factors) variants.push_back({.logit_factor = factor});
  return reference::evaluate_variants(c, contents, {&id, 1}, variants);
}

/// How far a row is from what a backend gave, in squares of its bounds.
double distance(const ErrorModel& model, const Case& c, const Numerics& numerics,
                const ReferenceRow& row, std::span<const std::byte> got) {
  const ErrorModel::Row bounds = model.row(row);
  const DType dtype = c.out_dtype();
  const std::byte* at = got.data();
  double sum = 0;
  for (std::size_t d = 0; d < row.out.size(); ++d, at += size_bytes(dtype)) {
    const double value = static_cast<double>(c.out_scale) * static_cast<double>(load(dtype, at));
    const double want = model.saturated(row.out[d]);
    sum += std::pow((value - want) / ErrorModel::bound(bounds, want, row.a[d]), 2);
  }
  if (!numerics.lse) return sum;
  const auto lse = static_cast<double>(load(DType::kF32, at));
  return sum + std::pow((lse - row.lse) / bounds.lse_bound, 2);
}

/// The nearest factor: of a grid of quarter octaves, then of ever finer ones around the best.
double fitted_factor(const Case& c, const Contents& contents, const Numerics& numerics,
                     const RowId& id, std::span<const std::byte> got) {
  constexpr int kRounds = 6, kHalf = 8;  // each round is eight times as fine
  const ErrorModel model(c, numerics);
  double best = 0, step = 0.25;
  int half = static_cast<int>(kOctaves / step);
  for (int round = 0; round <= kRounds; ++round) {
    std::vector<double> exponents, factors;
    for (int i = -half; i <= half; ++i) {
      exponents.push_back(best + i * step);
      factors.push_back(std::exp2(exponents.back()));
    }
    const std::vector<ReferenceRow> rows = rows_with(c, contents, id, factors);
    std::vector<double> distances;
    for (const ReferenceRow& row : rows) {
      distances.push_back(distance(model, c, numerics, row, got));
    }
    const auto least = std::ranges::min_element(distances) - distances.begin();
    best = exponents[static_cast<std::size_t>(least)];
    half = kHalf;
    step /= kHalf;
  }
  return std::exp2(best);
}

/// A mistake that multiplies logits.
struct KnownFactor {
  double factor;
  std::string text;
};

/// m where `scale` is 1 / sqrt(m), else 0.
int dims_of(double scale) {
  const double dims = 1 / (scale * scale);
  const double whole = std::round(dims);
  return whole >= 1 && whole <= 4096 && std::fabs(dims / whole - 1) < 1e-4 ? static_cast<int>(whole)
                                                                           : 0;
}

std::vector<KnownFactor> known_factors(const Case& c) {
  const double scale = c.layer.scale;
  const int dims = dims_of(scale);
  std::vector<KnownFactor> known = {
      {std::numbers::ln2, "exp2 of logits that were not multiplied by log2(e)?"},
      {1 / std::numbers::ln2, "log2(e) twice?"}};
  const std::string twice = dims > 0 ? fmt::format(", 1/{0} for 1/sqrt({0})", dims) : std::string();
  if (scale != 1) known.push_back({scale, "the scale applied twice" + twice + "?"});
  if (dims == 0) return known;
  for (const int other :
       {c.layer.head_dim_v, dims / 2, 2 * dims, 32, 64, 80, 96, 128, 192, 256, 512, 576}) {
    if (other <= 0 || other == dims) continue;
    known.push_back({std::sqrt(static_cast<double>(dims) / other),
                     fmt::format("scale 1/sqrt({}) for 1/sqrt({})?", other, dims)});
  }
  return known;
}

std::string text_of(double factor, const std::string& why) {
  return fmt::format("logits {:.3g} times as large{}{}{}", factor, why.empty() ? "" : " (", why,
                     why.empty() ? "" : ")");
}

}  // namespace

std::string cause_of_factor(const Case& c, const Contents& contents, const Numerics& numerics,
                            const ReferenceRow& right, std::span<const std::byte> got) {
  if (right.visible < kFewestKeys) return {};
  Numerics without_lse = numerics;
  without_lse.lse = false;
  if (agrees(c, without_lse, right, got)) return {};
  const std::vector<KnownFactor> known = known_factors(c);
  std::vector<double> factors;
  for (const KnownFactor& each : known) factors.push_back(each.factor);
  const std::vector<ReferenceRow> rows = rows_with(c, contents, right.id, factors);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (agrees(c, numerics, rows[i], got)) return text_of(known[i].factor, known[i].text);
  }
  if (right.visible > kMostKeysToFit) return {};
  const double factor = fitted_factor(c, contents, numerics, right.id, got);
  const ReferenceRow row = rows_with(c, contents, right.id, {{factor}}).front();
  return agrees(c, numerics, row, got) ? text_of(factor, "") : std::string();
}

}  // namespace attnbench
