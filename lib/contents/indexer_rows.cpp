// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/indexer_rows.h"

#include <cmath>
#include <cstddef>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"
#include "lib/contents/sample_draws.h"

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

/// Of what is a timed sample's own where `own`, else as it is in all of them.
std::uint64_t seed_of(const Contents& contents, bool own) {
  return own ? contents.secret() : contents.params().seed;
}

}  // namespace

int changed_head(const Contents& sample, std::int64_t request, std::int64_t token) {
  if (!sample.is_sample() || !changed_tokens(sample, request).has(token)) return -1;
  const int heads = sample.of_case().layer.selection.index_heads;
  const std::uint64_t key =
      row_key(sample.secret(), Role::kIndexQuery, sample.own_stream(request), token, heads);
  return static_cast<int>(key % static_cast<std::uint64_t>(heads));
}

std::int64_t changed_key(const Contents& sample, std::int64_t request) {
  if (!sample.is_sample()) return -1;
  const Request& of = sample.of_case().requests[to_size(request)];
  const Selection& pools = sample.of_case().layer.selection;
  const std::int64_t shared = pools.complete_pools(of.shared_len);
  const std::int64_t own = pools.complete_pools(of.kv_len) - shared;
  if (own <= 0) return -1;
  const std::uint64_t key =
      row_key(sample.secret(), Role::kIndexKey, sample.own_stream(request), 0, 0);
  return shared + OneOfEach(key, own, 1).of_part(0);
}

IndexRow index_query(const Contents& contents, std::int64_t request, std::int64_t token, int head) {
  const std::uint64_t key =
      row_key(seed_of(contents, head == changed_head(contents, request, token)), Role::kIndexQuery,
              contents.own_stream(request), token, head);
  return row_of(key, is_tiny(contents, key));
}

float index_weight(const Contents& contents, std::int64_t request, std::int64_t token, int head,
                   int heads) {
  constexpr float kQueryScale =
      0x1p-7f;  // of a query whose largest element is 3: 2^ceil(log2(3/448))
  const std::uint64_t bits = row_key(seed_of(contents, contents.is_sample()), Role::kIndexWeight,
                                     contents.own_stream(request), token, head);
  // Inside (-2, 2), of 24 bits.
  const float drawn =
      static_cast<float>(static_cast<std::int64_t>(bits >> 40) - (1 << 23)) * 0x1p-22f;
  return drawn * kQueryScale /
         std::sqrt(static_cast<float>(IndexerInputs::kDim) * static_cast<float>(heads));
}

IndexKey index_key(const Contents& contents, std::int64_t request, std::int64_t row,
                   std::int64_t unit, std::int64_t number) {
  const std::int64_t position = (row + 1) * unit - 1;
  const std::uint64_t key =
      row_key(seed_of(contents, row == changed_key(contents, request)), Role::kIndexKey,
              contents.source_of(request, position).stream, position, number);
  const bool tiny = is_tiny(contents, key);
  const auto draw = static_cast<int>(mix64(key) >> 32);
  // As of a layer's normalised keys, whose largest elements lie between 1.75 and 7.
  const int exponent = tiny ? draw & 7 : (draw & 1) - 8;
  return {row_of(key, tiny), std::ldexp(1.0f, exponent)};
}

}  // namespace attnbench
