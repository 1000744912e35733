// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/index_scores.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "lib/base/counter_hash.h"
#include "lib/base/int_math.h"
#include "lib/batch/index_scores.h"
#include "lib/contents/sample_draws.h"
#include "lib/contents/unit_rows.h"

namespace attnbench {
namespace {

/// 2^20 times a number inside (-8, 8): the sum of four uniform ones, which f32 holds exactly.
std::int32_t fine_number(std::uint64_t bits) {
  const std::int64_t sum = static_cast<std::int64_t>(bits & 0xffffu) +
                           static_cast<std::int64_t>((bits >> 16) & 0xffffu) +
                           static_cast<std::int64_t>((bits >> 32) & 0xffffu) +
                           static_cast<std::int64_t>(bits >> 48);
  const auto low = static_cast<std::int64_t>(mix64(bits) & 0x3fu);
  return static_cast<std::int32_t>((sum - 2 * 0xffff) * 64 + low);
}
constexpr float kFineUnit = 0x1p-20f;

/// One of 61 levels, mostly small ones.
float level(std::uint64_t bits) {
  int sum = -30;
  for (int i = 0; i < 4; ++i) sum += static_cast<int>((bits >> (8 * i)) & 0xfu);
  if (sum == 0 && (bits >> 63) != 0) return -0.0f;
  return static_cast<float>(sum) * 0.125f;
}

/// The kinds of rows, each in two forms.
struct ScoreRow {
  std::uint64_t key = 0;
  int kind = 0;
  bool other_form = false;
  bool newest_is_best = false;
  bool takes_own = false;  ///< the newest is the query's own, above all
  const Contents* contents = nullptr;
  std::int64_t request = 0;

  /// The score of a unit of so many.
  [[nodiscard]] float at(std::int64_t unit, std::int64_t units) const {
    if (is_stale(*contents, request, unit)) return -std::numeric_limits<float>::infinity();
    const bool is_newest = unit + 1 == units;
    if (is_newest && takes_own) return kOwnUnitScore;
    return newest_is_best && is_newest ? best() : score(unit);
  }

 private:
  [[nodiscard]] float score(std::int64_t unit) const {
    const std::uint64_t bits = combine(key, static_cast<std::uint64_t>(unit));
    switch (kind) {
      case 1:
        return level(bits);
      case 2:
        return neighbour(static_cast<std::uint32_t>(bits) & (other_form ? kFewBits : kManyBits));
      case 3:
        return static_cast<float>(fine_number(bits)) * kFineUnit - 16;
      default:
        return static_cast<float>(fine_number(bits)) * kFineUnit;
    }
  }
  /// Above the row's other scores, next to the highest one where these are neighbours.
  [[nodiscard]] float best() const {
    if (kind == 2) return neighbour((other_form ? kFewBits : kManyBits) + 1);
    return kind == 3 ? -0.5f : 9;
  }

  static constexpr std::uint32_t kFewBits = 0x1f, kManyBits = 0xfffff;

  /// `above` f32 numbers above 1, or below -1.
  [[nodiscard]] float neighbour(std::uint32_t above) const {
    constexpr std::uint32_t kOne = 0x3f800000u, kMinusOne = 0xbf800000u;
    const bool negative = (key & 1u) != 0;
    return std::bit_cast<float>(negative ? kMinusOne + kManyBits + 1 - above : kOne + above);
  }
};

/// Of two units: one is above all scores of timing data, the other one below, either first.
std::array<float, 2> planted_scores(std::uint64_t bits) {
  const auto size = [&](std::uint64_t which) {
    return 9.5f + static_cast<float>(combine(bits, which) >> 40) * (4.5f * 0x1p-24f);
  };
  const float high = size(0), low = -size(1);
  return (bits & 1u) != 0 ? std::array{high, low} : std::array{low, high};
}

ScoreRow row_of(const Contents& contents, std::int64_t request, std::int64_t token,
                std::int64_t group) {
  ScoreRow row;
  row.key = row_key(contents.params().seed, Role::kIndexScore, contents.own_stream(request), token,
                    group);
  const std::uint64_t draw = mix64(row.key);
  row.contents = &contents;
  row.request = request;
  row.newest_is_best = (draw & 8u) != 0;
  row.takes_own = contents.of_case().layer.selection.takes_maxima();
  if (contents.fill() == Fill::kTiming) return row;
  row.kind = static_cast<int>(draw & 3u);
  row.other_form = (draw & 4u) != 0;
  return row;
}

}  // namespace

void write_index_scores(const Contents& contents, std::int64_t request, std::int64_t token,
                        std::int64_t group, std::span<float> row) {
  if (row.empty()) return;
  const ScoreRow kind = row_of(contents, request, token, group);
  const std::int64_t units = std::ssize(row);
  for (std::int64_t unit = 0; unit < units; ++unit) row[to_size(unit)] = kind.at(unit, units);
  for (const ReplacedScores& each :
       replaced_scores(contents, contents, request, token, group, units)) {
    std::ranges::copy(each.scores, row.begin() + each.unit);
  }
}

std::vector<ReplacedScores> replaced_scores(const Contents& sample, const Contents& contents,
                                            std::int64_t request, std::int64_t token,
                                            std::int64_t group, std::int64_t units) {
  constexpr std::int64_t kMost = 2;  // of a row
  std::vector<ReplacedScores> replaced;
  if (!sample.is_sample() || !changed_tokens(sample, request).has(token)) return replaced;
  const std::uint64_t key =
      row_key(sample.secret(), Role::kIndexScore, sample.own_stream(request), token, group);
  const ScoreRow kind = row_of(contents, request, token, group);
  const std::int64_t others = kind.takes_own ? units - 1 : units;
  const OneOfEach pairs(key, others / 2, kMost);  // none meets another one
  for (std::int64_t part = 0; part < pairs.parts(); ++part) {
    ReplacedScores each{2 * pairs.of_part(part), {}};
    const std::uint64_t bits = combine(key, static_cast<std::uint64_t>(each.unit));
    each.scores = contents.is_sample()
                      ? planted_scores(bits)
                      : std::array{kind.at(each.unit, units), kind.at(each.unit + 1, units)};
    replaced.push_back(each);
  }
  return replaced;
}

float behind_index_scores(std::int64_t column) {
  return column % 2 == 0 ? std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace attnbench
