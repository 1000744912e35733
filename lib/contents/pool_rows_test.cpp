// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/pool_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>

#include "lib/base/dtype.h"
#include "lib/batch/index_write.h"

namespace attnbench {
namespace {

constexpr std::size_t kPoolDims = IndexerInputs::kDim;

/// Chunks of which one begins inside a pool, and one ends there.
Case writing_pools(std::int64_t unit) {
  Case c;
  c.seed = 5;
  c.mode = ForwardMode::kExtend;
  c.layer.heads_q = c.layer.heads_kv = 1;
  c.layer.head_dim_qk = c.layer.head_dim_v = 16;
  c.layer.selection = {.topk = 16, .unit = unit};
  c.requests.resize(2);
  c.requests[0].kv_len = 90;
  c.requests[0].q_len = 60;
  c.requests[1].kv_len = 2048;
  c.requests[1].q_len = 2043;
  c.step = StepPart::kIndexWrite;
  return c;
}

template <class T>
using Pooled = std::array<T, kPoolDims>;

/// By its definition, in `T`, of keys first to first + unit.
template <class T>
Pooled<T> pooled(const Contents& contents, std::int64_t request, std::int64_t first) {
  const std::int64_t unit = contents.of_case().layer.selection.unit;
  Pooled<T> weights{}, sums{};
  for (std::int64_t i = 0; i < unit; ++i) {
    const PoolKey key = pool_key(contents, request, first + i);
    const auto ape = pool_ape(contents.of_case(), i);
    for (std::size_t d = 0; d < kPoolDims; ++d) {
      const T weight = std::exp(static_cast<T>(key.gate[d]) + static_cast<T>(ape[d]));
      weights[d] += weight;
      sums[d] += weight * static_cast<T>(key.k[d]);
    }
  }
  for (std::size_t d = 0; d < kPoolDims; ++d) sums[d] /= weights[d];
  return sums;
}

template <class T>
IndexKey quantised(const Pooled<T>& numbers) {
  T amax = 0;
  for (const T number : numbers) amax = std::max(amax, std::abs(number));
  IndexKey key{.scale = index_key_scale(static_cast<float>(amax))};
  for (std::size_t d = 0; d < kPoolDims; ++d) {
    key.row[d] = e4m3_bits(static_cast<float>(numbers[d] / static_cast<T>(key.scale)));
  }
  return key;
}

Pooled<float> through_bf16(Pooled<float> numbers) {
  for (float& number : numbers) number = bf16_value(bf16_bits(number));
  return numbers;
}

TEST(PooledIndexKey, is_the_same_in_float64_in_f32_and_through_bf16) {
  for (const std::int64_t unit : {2, 4, 16, 128}) {
    const Case c = writing_pools(unit);
    std::set<float> scales;
    std::int64_t subnormal = 0;
    for (const Fill fill : {Fill::kNormal, Fill::kTiming}) {
      const Contents contents(c, fill);
      for (std::int64_t row = 5 / unit; row < 2048 / unit; ++row) {
        const IndexKey key = pooled_index_key(contents, 1, row);
        const auto exact = quantised(pooled<double>(contents, 1, row * unit));
        ASSERT_EQ(exact.scale, key.scale) << row << " of " << unit;
        ASSERT_EQ(exact.row, key.row) << row << " of " << unit;
        const Pooled<float> in_f32 = pooled<float>(contents, 1, row * unit);
        ASSERT_EQ(quantised(in_f32).row, key.row) << row << " of " << unit;
        ASSERT_EQ(quantised(through_bf16(in_f32)).row, key.row) << row << " of " << unit;
        ASSERT_EQ(quantised(through_bf16(in_f32)).scale, key.scale) << row << " of " << unit;
        scales.insert(key.scale);
        subnormal += std::ranges::count_if(
            key.row, [](std::uint8_t code) { return (code & 0x78) == 0 && (code & 7) != 0; });
      }
    }
    if (unit > 16) continue;
    EXPECT_TRUE(scales.contains(0x1p-42f)) << "some are below the floor, " << unit;
    EXPECT_GT(scales.size(), 10u);
    EXPECT_GT(subnormal, 500);
  }
}

TEST(PooledIndexKey, comes_of_keys_and_gates_in_bf16_that_are_unlike_their_row) {
  const Case c = writing_pools(16);
  const Contents contents(c, Fill::kNormal);
  std::int64_t far = 0, elements = 0;
  for (std::int64_t position = 16; position < 272; ++position) {
    const PoolKey key = pool_key(contents, 1, position);
    const IndexKey row = pooled_index_key(contents, 1, position / 16);
    for (std::size_t d = 0; d < kPoolDims; ++d) {
      EXPECT_EQ(bf16_value(bf16_bits(key.k[d])), key.k[d]);
      EXPECT_EQ(bf16_value(bf16_bits(key.gate[d])), key.gate[d]);
      EXPECT_LE(std::abs(key.gate[d]), 2);
      const float of_row = e4m3_value(row.row[d]) * row.scale;
      far += std::abs(key.k[d] - of_row) > std::abs(of_row) / 4 ? 1 : 0;
      ++elements;
    }
  }
  EXPECT_GT(far, elements / 2);
}

TEST(PooledIndexKey, is_another_one_of_keys_one_position_off) {
  const Case c = writing_pools(16);
  const Contents contents(c, Fill::kTiming);
  for (std::int64_t row = 1; row < 20; ++row) {
    const auto early = quantised(pooled<double>(contents, 1, row * 16 - 1));
    EXPECT_NE(early.row, pooled_index_key(contents, 1, row).row) << row;
  }
}

TEST(PooledIndexKey, is_a_samples_own_in_the_first_pool_by_the_steps_keys) {
  const Case c = writing_pools(16);
  const Contents one(c, 7), two(c, 8);
  EXPECT_EQ(changed_key(one, 0), 1) << "30 keys came before";
  EXPECT_EQ(changed_key(one, 1), 0);
  const auto k = [](const Contents& of, std::int64_t request, std::int64_t position) {
    return pool_key(of, request, position).k;
  };
  EXPECT_EQ(k(one, 0, 29), k(two, 0, 29)) << "it waits since an earlier step";
  EXPECT_NE(k(one, 0, 30), k(two, 0, 30));
  EXPECT_NE(k(one, 0, 31), k(two, 0, 31));
  EXPECT_NE(pool_key(one, 0, 31).gate, pool_key(two, 0, 31).gate);
  EXPECT_EQ(k(one, 0, 32), k(two, 0, 32));
  EXPECT_NE(index_key(one, 0, 1, 16).row, index_key(two, 0, 1, 16).row);
  EXPECT_EQ(index_key(one, 0, 2, 16).row, index_key(two, 0, 2, 16).row);
  EXPECT_EQ(index_key(one, 0, 1, 16).row, pooled_index_key(one, 0, 1).row);
  EXPECT_FALSE(is_written_by_step(c, 0, 0, 16));
  EXPECT_TRUE(is_written_by_step(c, 0, 1, 16));
}

}  // namespace
}  // namespace attnbench
