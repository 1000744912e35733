// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/indexer_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"
#include "lib/batch/index_write.h"
#include "lib/contents/pool_rows.h"
#include "lib/contents/pool_shape.h"
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

constexpr int kLeastPeak = kMiddle / 2 + 3;  // 18 * 14 is above 448 / 2, as its neighbours are
constexpr float kSmallest = 0x1p-9f;         // e4m3's subnormal numbers are multiples of it
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

/// A number of bf16 whose nearest one of e4m3 is `code`, by a draw of 4 bits: up to half of a step
/// of e4m3 away from it, half only where the code is even. Below a power of two steps are shorter,
/// so that numbers lie above it.
float number_of(std::uint8_t code, std::uint64_t draw) {
  const int mantissa = code & 7, exponent = std::max(code >> 3 & 15, 1);
  int sixteenths = static_cast<int>(draw & 15) - 7;  // -7 to 8
  if (sixteenths == 8 && mantissa % 2 != 0) sixteenths = 0;
  if (mantissa == 0) sixteenths = std::abs(sixteenths);
  const float away = std::ldexp(static_cast<float>(sixteenths), exponent - 7 - 3 - 4);
  return e4m3_value(code) + ((code & 0x80) != 0 ? -away : away);
}

/// Of what is a timed sample's own where `own`, else as it is in all of them.
std::uint64_t seed_of(const Contents& contents, bool own) {
  return own ? contents.secret() : contents.params().seed;
}

}  // namespace

IndexKey drawn_written_row(std::uint64_t key, Fill fill) {
  const bool timed = fill == Fill::kTiming;
  const std::uint64_t bits = mix64(key);
  const std::uint64_t kind = timed ? 15 : bits % 16;  // 1 to 4: a peak among tiny elements
  IndexKey made{row_of(key, kind < 5), 0};
  if (kind == 0) return {made.row, index_key_scale(0)};  // below the floor
  const int level = kLeastPeak + static_cast<int>((bits >> 8) % (kMiddle - kLeastPeak + 1));
  const bool negative = (bits >> 16 & 1) != 0;
  made.row[(bits >> 24) % made.row.size()] = kLarge[to_size(kMiddle + (negative ? -level : level))];
  const auto draw = static_cast<int>(bits >> 32);
  made.scale = std::ldexp(1.0f, timed ? (draw & 1) - 8 : (draw & 15) - 8);
  return made;
}

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
  if (writes_index(sample.of_case().step)) {
    const std::int64_t first = of.kv_len - of.new_keys();
    return of.new_keys() > 0 ? first / pool_shape(sample.of_case()).keys : -1;
  }
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
  if (is_written_by_step(contents.of_case(), request, row, unit)) {
    return unit > 1 ? pooled_index_key(contents, request, row)
                    : drawn_written_row(key, contents.fill());
  }
  const bool tiny = is_tiny(contents, key);
  const auto draw = static_cast<int>(mix64(key) >> 32);
  // As of a layer's normalised keys, whose largest elements lie between 1.75 and 7.
  const int exponent = tiny ? draw & 7 : (draw & 1) - 8;
  return {row_of(key, tiny), std::ldexp(1.0f, exponent)};
}

bool is_written_by_step(const Case& c, std::int64_t request, std::int64_t row, std::int64_t unit) {
  return writes_index(c.step) && (row + 1) * unit > c.requests[to_size(request)].prefix_len();
}

std::array<float, IndexerInputs::kDim> new_index_key(const Contents& contents, std::int64_t request,
                                                     std::int64_t row) {
  const IndexKey key = index_key(contents, request, row, 1);
  const bool in_bf16 = contents.of_case().layer.selection.scores_in_bf16();
  const std::uint64_t seed =
      row_key(contents.params().seed, Role::kIndexKey, contents.own_stream(request), row, 1);
  std::array<float, IndexerInputs::kDim> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::uint64_t draw = combine(seed, i / 16) >> (i % 16 * 4);
    numbers[i] = key.scale * (in_bf16 ? e4m3_value(key.row[i]) : number_of(key.row[i], draw));
  }
  return numbers;
}

}  // namespace attnbench
