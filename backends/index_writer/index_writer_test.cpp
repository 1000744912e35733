// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/index_writer/index_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// Pools of two keys, 1 and 5 in all dims, whose weights are 1 and 3.
class PoolsByHand : public testing::Test {
 protected:
  static constexpr std::size_t kDim = IndexerInputs::kDim;

  static void put(std::vector<std::byte>& rows, std::size_t row, float number) {
    for (std::size_t dim = 0; dim < kDim; ++dim) {
      store(DType::kBF16, rows.data() + (row * kDim + dim) * 2, number);
    }
  }
  void run(IndexWrite write) {
    std::ranges::fill(std::span(ape_).last(kDim), std::log(3.0f));
    write.cache = cache_.data();
    write.page_size = write.pages = 1;
    write.pools.keys = 2;
    write.pools.ape = ape_.data();
    write.pools.ring = ring_.data();
    ForwardBatch batch;
    const Case c = conformance::selecting_decodes(4, {2});
    const Problem problem = problem_of(c);
    batch.problem = &problem;
    batch.index_write = &write;
    const auto device = make_cpu_device();
    PlanMemory memory(*device);
    HostWriter().plan(batch, memory)->run(*device->make_stream());
  }
  /// What dim 127 of the cache's row stands for.
  [[nodiscard]] float pooled() const {
    float scale = 0;
    std::memcpy(&scale, cache_.data() + kDim, sizeof scale);
    return scale * e4m3_value(std::to_integer<std::uint8_t>(cache_[127]));
  }
  static std::vector<std::byte> rows(std::size_t count) {
    return std::vector<std::byte>(count * kDim * 2);
  }

  std::vector<std::byte> cache_ = std::vector<std::byte>(IndexerInputs::kKeyBytes);
  std::vector<std::byte> ring_ = rows(2 * 4);  // keys and gates; block 0 is nobody's
  std::vector<float> ape_ = std::vector<float>(2 * kDim);
};

TEST_F(PoolsByHand, are_the_softmax_of_what_a_step_brings) {
  std::vector<std::byte> keys = rows(2), gates = rows(2);
  put(keys, 0, 1);
  put(keys, 1, 5);
  const std::int64_t slots[] = {-1, 0}, ring_rows[] = {-1, -1};
  const WaitingKeys waiting[2];
  run({.k = keys.data(),
       .slots = slots,
       .tokens = 2,
       .pools = {.gates = gates.data(), .ring_rows = ring_rows, .waiting = waiting}});
  EXPECT_EQ(pooled(), 4);
}

TEST_F(PoolsByHand, have_what_waited_before_the_steps_own_keys) {
  std::vector<std::byte> keys = rows(1), gates = rows(1);
  put(keys, 0, 5);
  put(gates, 0, 2);
  put(ring_, 2 * 2, 1);
  put(ring_, 2 * 2 + 1, 2);
  const std::int64_t slots[] = {0}, ring_rows[] = {3};
  const WaitingKeys waiting[] = {{.first_row = 2, .count = 1}};
  run({.k = keys.data(),
       .slots = slots,
       .tokens = 1,
       .pools = {.gates = gates.data(), .ring_rows = ring_rows, .waiting = waiting}});
  EXPECT_EQ(pooled(), 4);
  EXPECT_EQ(load(DType::kBF16, ring_.data() + 3 * kDim * 4), 5) << "and waits, as drafts do";
  EXPECT_EQ(load(DType::kBF16, ring_.data() + 3 * kDim * 4 + kDim * 2), 2);
}

TEST(IndexWriter, attends_to_nothing) {
  const Support attention = HostWriter().supports(problem_of(small_plain_decode()));
  EXPECT_FALSE(attention);
  EXPECT_EQ(attention.reason(), "it writes index keys only");
}

}  // namespace
}  // namespace attnbench::index_writer
