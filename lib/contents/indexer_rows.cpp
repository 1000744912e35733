// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/indexer_rows.h"

#include <cmath>
#include <cstddef>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"

namespace attnbench {
namespace {

constexpr int kLevels = 61;  // the sum of four numbers below 16, a bell
constexpr int kMiddle = kLevels / 2;

/// The levels as e4m3, `unit` apart.
constexpr std::array<std::uint8_t, kLevels> levels_of(float unit) {
  std::array<std::uint8_t, kLevels> codes{};
  for (int i = 0; i < kLevels; ++i) {
    codes[static_cast<std::size_t>(i)] = e4m3_bits(static_cast<float>(i - kMiddle) * unit);
  }
  return codes;
}

constexpr float kSmallest = 0x1p-9f;  // e4m3's subnormal numbers are multiples of it
constexpr std::array kLarge = levels_of(14);
constexpr std::array kTiny = levels_of(kSmallest);

bool is_tiny(const Contents& contents, std::uint64_t key) {
  return contents.fill() != Fill::kTiming && mix64(key) % 4 == 0;
}

IndexRow row_of(std::uint64_t key, bool tiny) {
  const auto& codes = tiny ? kTiny : kLarge;
  IndexRow row;
  for (std::size_t i = 0; i < row.size(); i += 4) {
    const std::uint64_t bits = combine(key, i);
    for (std::size_t j = 0; j < 4; ++j) {
      std::size_t level = 0;
      for (std::size_t part = 0; part < 4; ++part) level += bits >> (16 * j + 4 * part) & 0xfu;
      row[i + j] = codes[level];
    }
  }
  return row;
}

}  // namespace

IndexRow index_query(const Contents& contents, std::int64_t request, std::int64_t token, int head) {
  const std::uint64_t key =
      row_key(contents.params().seed, Role::kIndexQuery, contents.own_stream(request), token, head);
  return row_of(key, is_tiny(contents, key));
}

float index_weight(const Contents& contents, std::int64_t request, std::int64_t token, int head,
                   int heads) {
  constexpr float kQueryScale =
      0x1p-7f;  // of a query whose largest element is 3: 2^ceil(log2(3/448))
  const std::uint64_t bits = row_key(contents.params().seed, Role::kIndexWeight,
                                     contents.own_stream(request), token, head);
  // Inside (-2, 2), of 24 bits.
  const float drawn =
      static_cast<float>(static_cast<std::int64_t>(bits >> 40) - (1 << 23)) * 0x1p-22f;
  return drawn * kQueryScale /
         std::sqrt(static_cast<float>(IndexerInputs::kDim) * static_cast<float>(heads));
}

IndexKey index_key(const Contents& contents, std::int64_t request, std::int64_t row,
                   std::int64_t unit) {
  const std::int64_t position = (row + 1) * unit - 1;
  const std::uint64_t key = row_key(contents.params().seed, Role::kIndexKey,
                                    contents.source_of(request, position).stream, position, 0);
  const bool tiny = is_tiny(contents, key);
  const auto draw = static_cast<int>(mix64(key) >> 32);
  // As of a layer's normalised keys, whose largest elements lie between 1.75 and 7.
  const int exponent = tiny ? draw & 7 : (draw & 1) - 8;
  return {row_of(key, tiny), std::ldexp(1.0f, exponent)};
}

}  // namespace attnbench
