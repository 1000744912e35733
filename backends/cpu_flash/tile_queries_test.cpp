// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/tile_queries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/cpu_flash/tile_task.h"
#include "lib/device/device.h"
#include "lib/fixture/fixture.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench::cpu_flash {
namespace {

constexpr std::uint16_t kOne = 0x3f80, kZero = 0, kSubnormal = 0x0040, kTwoTo40 = 0x5380,
                        kNan = 0x7fc0;

/// One request of bf16 queries and keys; kernels that claim bf16 dot products and are never run.
class TileQueries : public testing::Test {
 protected:
  [[nodiscard]] QueryLayout layout(const Case& c,
                                   const std::vector<std::uint16_t>& first_elements) {
    Fixture fixture(c, *device_);
    ForwardBatch batch = fixture.batch();
    std::vector<std::uint16_t> queries(static_cast<std::size_t>(batch.tensors.q.size()), kOne);
    std::ranges::copy(first_elements, queries.begin());
    batch.tensors.q.data = reinterpret_cast<const std::byte*>(queries.data());
    const WorkPlan plan = plan_work(batch, batch.problem->layer);
    std::vector<std::byte> memory(scratch_bytes(plan, batch.problem->layer, kernels_.lanes));
    const Scratch scratch =
        scratch_at(memory.data(), plan, batch.problem->layer, kernels_.lanes).front();
    const Item& item = plan.items.front();
    const Geometry geometry(batch.problem->layer, item.rows(), kernels_.lanes);
    return load_queries(batch, item, 0, kernels_, geometry, scratch);
  }

  [[nodiscard]] static Case decode_of_four_heads() {
    Case c = small_plain_decode();
    c.requests.resize(1);
    c.layer.heads_kv = 1;
    c.layer.heads_q = 4;
    c.layer.head_dim_qk = c.layer.head_dim_v = 64;
    c.dtype = c.kv_cache.dtype = DType::kBF16;
    return c;
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
  Kernels kernels_{16, true, nullptr};
};

TEST_F(TileQueries, bf16_queries_and_keys_take_bf16_dot_products) {
  Case c = decode_of_four_heads();
  EXPECT_EQ(layout(c, {kZero}), QueryLayout::kBf16Chunks);
  c.layer.heads_q = 12;
  EXPECT_EQ(layout(c, {kZero}), QueryLayout::kBf16Panels);
}

TEST_F(TileQueries, keep_from_bf16_dot_products_what_these_would_round_to_nothing) {
  const Case c = decode_of_four_heads();
  for (const std::uint16_t element : {kSubnormal, kTwoTo40, kNan}) {
    EXPECT_EQ(layout(c, {element}), QueryLayout::kRows) << element;
  }
  Case steep = c;
  steep.layer.scale = 1e12;
  EXPECT_EQ(layout(steep, {}), QueryLayout::kRows);
}

TEST_F(TileQueries, other_types_and_head_sizes_are_widened) {
  Case c = decode_of_four_heads();
  c.kv_cache.dtype = DType::kF16;
  EXPECT_EQ(layout(c, {}), QueryLayout::kRows);
  c = decode_of_four_heads();
  c.layer.head_dim_qk = 80;
  EXPECT_EQ(layout(c, {}), QueryLayout::kRows);
  c.layer.heads_q = 12;
  EXPECT_EQ(layout(c, {}), QueryLayout::kBf16Panels);
}

}  // namespace
}  // namespace attnbench::cpu_flash
