// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/pool_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

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

/// The softmax of some keys in each dim, in `T`.
template <class T>
class Softmax {
 public:
  explicit Softmax(std::size_t dims) : weights_(dims), sums_(dims) {}
  /// Columns from `first` on of the key at a position, which is key `i` of its pool.
  void add(const Contents& contents, std::int64_t request, std::int64_t position, std::int64_t i,
           std::size_t first = 0) {
    const PoolKey key = pool_key(contents, request, position);
    const auto ape = pool_ape(contents.of_case(), i);
    for (std::size_t d = 0; d < sums_.size(); ++d) {
      const std::size_t at = first + d;
      const T weight = std::exp(static_cast<T>(key.gate[at]) + static_cast<T>(ape[at]));
      weights_[d] += weight;
      sums_[d] += weight * static_cast<T>(key.k[at]);
    }
  }
  [[nodiscard]] std::vector<T> row() const {
    std::vector<T> row = sums_;
    for (std::size_t d = 0; d < row.size(); ++d) row[d] /= weights_[d];
    return row;
  }

 private:
  std::vector<T> weights_, sums_;
};

/// The row of keys `first` to `first` + unit of an indexer.
template <class T>
std::vector<T> pooled(const Contents& contents, std::int64_t request, std::int64_t first) {
  Softmax<T> softmax(kPoolDims);
  for (std::int64_t i = 0; i < contents.of_case().layer.selection.unit; ++i) {
    softmax.add(contents, request, first + i, i);
  }
  return softmax.row();
}

template <class T>
IndexKey quantised(const std::vector<T>& numbers) {
  T amax = 0;
  for (const T number : numbers) amax = std::max(amax, std::abs(number));
  IndexKey key{.scale = index_key_scale(static_cast<float>(amax))};
  for (std::size_t d = 0; d < kPoolDims; ++d) {
    key.row[d] = e4m3_bits(static_cast<float>(numbers[d] / static_cast<T>(key.scale)));
  }
  return key;
}

std::vector<float> through_bf16(std::vector<float> numbers) {
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
        const std::vector<float> in_f32 = pooled<float>(contents, 1, row * unit);
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

/// The same chunks of a layer with compressed rows.
Case compressing(std::int64_t ratio) {
  Case c = writing_pools(1);
  c.layer.selection = {};
  c.layer.head_dim_qk = c.layer.head_dim_v = 192;
  c.layer.compress_ratio = ratio;
  c.step = StepPart::kCompress;
  return c;
}

/// Row c of DeepSeek-V4: of 8 tokens the first half of the columns of those before, and the second
/// one of its own; of 128 their columns.
template <class T>
std::vector<T> compressed(const Contents& contents, std::int64_t row) {
  const std::int64_t ratio = contents.of_case().layer.compress_ratio;
  Softmax<T> softmax(192);
  for (std::int64_t i = 0; ratio == 4 && row > 0 && i < 4; ++i) {
    softmax.add(contents, 1, (row - 1) * 4 + i, i, 0);
  }
  for (std::int64_t i = 0; i < ratio; ++i) {
    softmax.add(contents, 1, row * ratio + i, i, ratio == 4 ? 192 : 0);
  }
  return softmax.row();
}

TEST(CompressedRow, is_the_same_in_float64_and_in_f32) {
  for (const std::int64_t ratio : {4, 128}) {
    const Case c = compressing(ratio);
    for (const Fill fill : {Fill::kNormal, Fill::kTiming}) {
      const Contents contents(c, fill);
      for (std::int64_t row = 0; row < 512 / ratio; ++row) {
        const std::vector<float> stored = compressed_row(contents, 1, row);
        const std::vector<double> exact = compressed<double>(contents, row);
        const std::vector<float> in_f32 = compressed<float>(contents, row);
        for (std::size_t d = 0; d < stored.size(); ++d) {
          ASSERT_EQ(bf16_value(bf16_bits(static_cast<float>(exact[d]))), stored[d]) << row;
          ASSERT_EQ(bf16_value(bf16_bits(in_f32[d])), stored[d]) << row;
        }
      }
    }
  }
}

TEST(CompressedRow, changes_in_a_sample_with_the_tokens_that_it_overlaps) {
  const Case c = compressing(4);
  const Contents one(c, 7), two(c, 8);
  EXPECT_EQ(changed_key(one, 0), 7) << "30 tokens came before";
  EXPECT_NE(compressed_row(one, 0, 7), compressed_row(two, 0, 7));
  EXPECT_NE(compressed_row(one, 0, 8), compressed_row(two, 0, 8));
  EXPECT_EQ(compressed_row(one, 0, 9), compressed_row(two, 0, 9));
  for (std::int64_t position = 24; position < 48; ++position) {
    const bool is_own = is_own_pool_key(one, 0, position);
    EXPECT_EQ(is_own, position == 30 || position == 31 || position == 35) << position;
    if (is_own) continue;
    EXPECT_EQ(pool_key(one, 0, position).k, pool_key(two, 0, position).k) << position;
  }
}

TEST(CompressedRow, comes_of_keys_that_bf16_does_not_hold) {
  const Contents contents(compressing(4), Fill::kTiming);
  const PoolKey key = pool_key(contents, 1, 21);
  EXPECT_EQ(key.k.size(), 2 * 192u);
  EXPECT_GT(std::ranges::count_if(key.k, [](float k) { return bf16_value(bf16_bits(k)) != k; }),
            300);
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
