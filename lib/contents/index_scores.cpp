// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/index_scores.h"

#include <bit>
#include <limits>

#include "lib/base/counter_hash.h"

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

 private:
  static constexpr std::uint32_t kFewBits = 0x1f, kManyBits = 0xfffff;

  /// `above` f32 numbers above 1, or below -1.
  [[nodiscard]] float neighbour(std::uint32_t above) const {
    constexpr std::uint32_t kOne = 0x3f800000u, kMinusOne = 0xbf800000u;
    const bool negative = (key & 1u) != 0;
    return std::bit_cast<float>(negative ? kMinusOne + kManyBits + 1 - above : kOne + above);
  }
};

ScoreRow row_of(const Contents& contents, std::int64_t request, std::int64_t token,
                std::int64_t group) {
  ScoreRow row;
  row.key = row_key(contents.params().seed, Role::kIndexScore, contents.own_stream(request), token,
                    group);
  const std::uint64_t draw = mix64(row.key);
  row.newest_is_best = (draw & 8u) != 0;
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
  for (std::size_t unit = 0; unit < row.size(); ++unit) {
    row[unit] = kind.score(static_cast<std::int64_t>(unit));
  }
  if (kind.newest_is_best) row.back() = kind.best();
}

float behind_index_scores(std::int64_t column) {
  return column % 2 == 0 ? std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace attnbench
