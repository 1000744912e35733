// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/indexer_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>

#include "lib/base/dtype.h"
#include "lib/batch/index_write.h"

namespace attnbench {
namespace {

/// Chunks, so that some rows are written by the step and some are not.
Case writing_chunks() {
  Case c;
  c.seed = 5;
  c.mode = ForwardMode::kExtend;
  c.layer.heads_q = c.layer.heads_kv = 1;
  c.layer.head_dim_qk = c.layer.head_dim_v = 16;
  c.layer.selection.topk = 16;
  c.requests.resize(2);
  c.requests[0].kv_len = 90;
  c.requests[0].q_len = 60;
  c.requests[1].kv_len = 300;
  c.requests[1].q_len = 290;
  c.step = StepPart::kIndexWrite;
  return c;
}

/// The nearest number of e4m3, tried one by one; of two the one with an even code.
std::uint8_t nearest(double number) {
  std::uint8_t best = 0;
  double least = HUGE_VAL;
  for (int code = 0; code < 256; ++code) {
    if ((code & 0x7f) == 0x7f || std::signbit(number) != (code >= 0x80)) continue;
    const auto bits = static_cast<std::uint8_t>(code);
    const double away = std::abs(number - static_cast<double>(e4m3_value(bits)));
    if (away > least || (away == least && code % 2 != 0)) continue;
    least = away;
    best = bits;
  }
  return best;
}

/// By its definition, in double.
double scale_of(double amax) {
  return std::exp2(std::ceil(std::log2(std::max(amax, 1e-10) / 448)));
}

TEST(IndexKeyScale, is_the_least_power_of_two_that_brings_a_key_to_448) {
  EXPECT_EQ(index_key_scale(3), 0x1p-7f);
  EXPECT_EQ(index_key_scale(448), 1);
  EXPECT_EQ(index_key_scale(std::nextafter(448.0f, 449.0f)), 2);
  EXPECT_EQ(index_key_scale(224), 0.5f);
  EXPECT_EQ(index_key_scale(0), 0x1p-42f) << "1e-10 / 448, rounded up";
  EXPECT_EQ(index_key_scale(1e-10f), 0x1p-42f);
}

TEST(NewIndexKey, is_quantised_to_the_row_of_the_cache) {
  const Case c = writing_chunks();
  std::set<float> scales;
  std::int64_t rounded = 0, tied = 0, subnormal = 0;
  for (const Fill fill : {Fill::kNormal, Fill::kTiming}) {
    const Contents contents(c, fill);
    for (std::int64_t row = 10; row < 300; ++row) {
      const IndexKey key = index_key(contents, 1, row, 1);
      const auto numbers = new_index_key(contents, 1, row);
      float amax = 0;
      for (const float number : numbers) amax = std::max(amax, std::abs(number));
      EXPECT_EQ(key.scale, scale_of(static_cast<double>(amax))) << row;
      EXPECT_EQ(key.scale, index_key_scale(amax)) << row;
      scales.insert(key.scale);
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        EXPECT_EQ(bf16_value(bf16_bits(numbers[i])), numbers[i]) << "a number of bf16";
        const float number = numbers[i] / key.scale;
        ASSERT_EQ(nearest(static_cast<double>(number)), key.row[i]) << row << ", " << number;
        rounded += number != e4m3_value(key.row[i]) ? 1 : 0;
        subnormal += (key.row[i] & 0x78) == 0 && (key.row[i] & 7) != 0 ? 1 : 0;
        const float away = std::abs(number - e4m3_value(key.row[i]));
        const int exponent = std::max(key.row[i] >> 3 & 15, 1);
        tied += away == std::ldexp(1.0f, exponent - 7 - 3 - 1) ? 1 : 0;
      }
    }
  }
  EXPECT_TRUE(scales.contains(0x1p-42f)) << "some keys are below the floor";
  EXPECT_GT(scales.size(), 10u);
  EXPECT_GT(rounded, 290 * 128) << "most are no numbers of e4m3";
  EXPECT_GT(tied, 1000);
  EXPECT_GT(subnormal, 1000);
}

TEST(NewIndexKey, is_the_row_itself_in_bf16) {
  Case c = writing_chunks();
  c.layer.selection.score = SelectionScore::kMax;
  const Contents contents(c, Fill::kNormal);
  const IndexKey key = index_key(contents, 0, 80, 1);
  const auto numbers = new_index_key(contents, 0, 80);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(numbers[i], e4m3_value(key.row[i]) * key.scale);
  }
}

TEST(ChangedKey, is_the_first_that_the_step_writes) {
  Case c = writing_chunks();
  EXPECT_EQ(changed_key(Contents(c, 7), 0), 30);
  EXPECT_EQ(changed_key(Contents(c, 7), 1), 10);
  EXPECT_NE(new_index_key(Contents(c, 7), 1, 10), new_index_key(Contents(c, 8), 1, 10));
  EXPECT_EQ(new_index_key(Contents(c, 7), 1, 11), new_index_key(Contents(c, 8), 1, 11));
  EXPECT_FALSE(is_written_by_step(c, 0, 29));
  EXPECT_TRUE(is_written_by_step(c, 0, 30));
  c.step = StepPart::kIndexer;
  EXPECT_FALSE(is_written_by_step(c, 0, 30));
}

}  // namespace
}  // namespace attnbench
