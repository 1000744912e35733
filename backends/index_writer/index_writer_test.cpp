// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/index_writer/index_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "backends/testing/index_write_conformance.h"

namespace attnbench::index_writer {
namespace {

TEST(IndexWriter, writes_the_new_keys_of_all_small_cases) {
  HostWriter writer;
  conformance::expect_index_writes(writer, *make_cpu_device());
}

/// Pools of two keys, whose numbers are the same in all dims. Positions weigh 1 and 3 unless gates
/// wait with them.
class PoolsByHand : public testing::Test {
 protected:
  static constexpr std::size_t kDim = IndexerInputs::kDim;

  PoolsByHand() { std::ranges::fill(std::span(ape_).last(kDim), std::log(3.0f)); }
  /// Rows of `numbers.size()` * kDim elements.
  [[nodiscard]] std::vector<std::byte> rows(std::initializer_list<float> numbers) const {
    std::vector<std::byte> all;
    const auto size = static_cast<std::size_t>(size_bytes(write_.shape.dtype));
    for (const float number : numbers) {
      for (std::size_t dim = 0; dim < kDim; ++dim) {
        all.resize(all.size() + size);
        store(write_.shape.dtype, all.data() + all.size() - size, number);
      }
    }
    return all;
  }
  /// `keys` and `gates` of so many tokens.
  void run(const std::vector<std::byte>& keys, const std::vector<std::byte>& gates,
           std::int64_t tokens) {
    write_.k = keys.data();
    write_.pools.gates = gates.data();
    write_.tokens = tokens;
    write_.cache = cache_.data();
    write_.page_size = 2;
    write_.pages = 1;
    write_.pools.ape = ape_.data();
    write_.pools.ring = ring_.data();
    ForwardBatch batch;
    batch.index_write = &write_;
    const auto device = make_cpu_device();
    PlanMemory memory(*device);
    HostWriter().plan(batch, memory)->run(*device->make_stream());
  }
  /// What dim 127 of a row of the cache stands for.
  [[nodiscard]] float pooled(std::size_t row) const {
    if (write_.shape.row == DType::kBF16) {
      return load(DType::kBF16, cache_.data() + (row * kDim + 127) * 2);
    }
    float scale = 0;
    std::memcpy(&scale, cache_.data() + 2 * kDim + row * sizeof scale, sizeof scale);
    return scale * e4m3_value(std::to_integer<std::uint8_t>(cache_[row * kDim + 127]));
  }
  [[nodiscard]] float in_ring(std::size_t number) const {
    const DType dtype = write_.shape.dtype;
    return load(dtype, ring_.data() + number * kDim * static_cast<std::size_t>(size_bytes(dtype)));
  }

  IndexWrite write_{.shape = {.keys = 2}};
  std::vector<std::byte> cache_ = std::vector<std::byte>(2 * 2 * kDim);
  std::vector<std::byte> ring_ = std::vector<std::byte>(4 * 2 * 2 * 4 * kDim);
  std::vector<float> ape_ = std::vector<float>(2 * kDim);
};

TEST_F(PoolsByHand, are_the_softmax_of_what_a_step_brings) {
  const std::int64_t slots[] = {-1, 0}, ring_rows[] = {-1, -1};
  const WaitingKeys waiting[2];
  write_.slots = slots;
  write_.pools.ring_rows = ring_rows;
  write_.pools.waiting = waiting;
  run(rows({1, 5}), rows({0, 0}), 2);
  EXPECT_EQ(pooled(0), 4);
}

TEST_F(PoolsByHand, have_what_waited_before_the_steps_own_keys) {
  ring_ = rows({0, 0, 0, 0, 1, 2, 0, 0});  // row 2: a key and its gate
  const std::int64_t slots[] = {0}, ring_rows[] = {3};
  const WaitingKeys waiting[] = {{.first_row = 2, .count = 1}};
  write_.slots = slots;
  write_.pools.ring_rows = ring_rows;
  write_.pools.waiting = waiting;
  run(rows({5}), rows({2}), 1);
  EXPECT_EQ(pooled(0), 4);
  EXPECT_EQ(in_ring(2 * 3), 5) << "and waits, as drafts do";
  EXPECT_EQ(in_ring(2 * 3 + 1), 2) << "without its position";
}

TEST_F(PoolsByHand, overlap_where_a_compressor_makes_rows_of_two_halves) {
  write_.shape = {.keys = 2,
                  .overlaps = true,
                  .dtype = DType::kF32,
                  .waits_with_ape = true,
                  .row = DType::kBF16};
  ape_.assign(2 * 2 * kDim, 0.0f);
  const std::int64_t slots[] = {-1, 0, -1, 1}, ring_rows[] = {-1, -1, 2, 3};
  const WaitingKeys waiting[] = {{}, {.absent = 2}, {}, {}};
  write_.slots = slots;
  write_.pools.ring_rows = ring_rows;
  write_.pools.waiting = waiting;
  run(rows({1, 5, 2, 6, 3, 7, 4, 8}), rows({0, 0, 0, 0, 0, 0, 0, 0}), 4);
  EXPECT_EQ(pooled(0), 5.5f) << "5 and 6: there is no row before";
  EXPECT_EQ(pooled(1), 4.5f) << "1, 2, 7 and 8";
  EXPECT_EQ(in_ring(4 * 3), 4);
  EXPECT_EQ(in_ring(4 * 3 + 1), 8);
}

TEST_F(PoolsByHand, have_gates_of_a_compressor_wait_with_their_positions) {
  write_.shape = {.keys = 2, .dtype = DType::kF32, .waits_with_ape = true, .row = DType::kBF16};
  ring_ = rows({0, 0, 0, 0, 1, 0, 0, 0});
  const std::int64_t slots[] = {1}, ring_rows[] = {3};
  const WaitingKeys waiting[] = {{.first_row = 2, .count = 1}};
  write_.slots = slots;
  write_.pools.ring_rows = ring_rows;
  write_.pools.waiting = waiting;
  run(rows({5}), rows({0}), 1);
  EXPECT_EQ(pooled(1), 4);
  EXPECT_EQ(in_ring(2 * 3 + 1), std::log(3.0f)) << "of the pool's second key";
}

TEST(Compressor, makes_the_rows_of_all_small_cases) {
  HostCompressor compressor;
  conformance::expect_compressed_rows(compressor, *make_cpu_device());
}

TEST(IndexWriter, attends_to_nothing) {
  const Support attention = HostWriter().supports(problem_of(small_plain_decode()));
  EXPECT_FALSE(attention);
  EXPECT_EQ(attention.reason(), "it writes index keys only");
}

}  // namespace
}  // namespace attnbench::index_writer
