// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/token_to_kv_pool.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

KvPoolShape small(KvLayout layout) {
  KvPoolShape shape;
  shape.dtype = DType::kF16;
  shape.layout = layout;
  shape.page_size = 4;
  shape.num_pages = 3;
  shape.heads_kv = 2;
  shape.head_dim_k = 8;
  shape.head_dim_v = 6;
  return shape;
}

TEST(MhaPoolView, puts_heads_inside_tokens_for_nhd_and_tokens_inside_heads_for_hnd) {
  std::byte k{};
  std::byte v{};
  const KvPool nhd = mha_pool_view(&k, &v, small(KvLayout::kNhd));
  EXPECT_EQ(nhd.token_stride_k, 16);
  EXPECT_EQ(nhd.head_stride_k, 8);
  EXPECT_EQ(nhd.token_stride_v, 12);
  const KvPool hnd = mha_pool_view(&k, &v, small(KvLayout::kHnd));
  EXPECT_EQ(hnd.token_stride_k, 8);
  EXPECT_EQ(hnd.head_stride_k, 32);
  EXPECT_EQ(hnd.head_stride_v, 24);
  EXPECT_EQ(hnd.page_stride_k, nhd.page_stride_k);
}

TEST(MhaPoolView, gives_every_row_a_place_of_its_own_in_the_buffer) {
  for (const auto layout : {KvLayout::kNhd, KvLayout::kHnd}) {
    const KvPoolShape shape = small(layout);
    std::vector<std::byte> k(static_cast<std::size_t>(k_buffer_bytes(shape)));
    std::vector<std::byte> v(static_cast<std::size_t>(v_buffer_bytes(shape)));
    const KvPool pool = mha_pool_view(k.data(), v.data(), shape);
    std::set<std::ptrdiff_t> k_rows;
    std::set<std::ptrdiff_t> v_rows;
    for (std::int64_t slot = 0; slot < shape.num_pages * shape.page_size; ++slot) {
      for (int head = 0; head < shape.heads_kv; ++head) {
        k_rows.insert(pool.k_row(slot, head) - k.data());
        v_rows.insert(pool.v_row(slot, head) - v.data());
      }
    }
    EXPECT_EQ(k_rows.size(), 24u);
    EXPECT_EQ(*k_rows.rbegin() + 16, std::ssize(k));
    EXPECT_EQ(v_rows.size(), 24u);
    EXPECT_EQ(*v_rows.rbegin() + 12, std::ssize(v));
    for (const std::ptrdiff_t row : k_rows) EXPECT_EQ(row % 16, 0);
    for (const std::ptrdiff_t row : v_rows) EXPECT_EQ(row % 12, 0);
  }
}

TEST(KvBufferBytes, match_the_known_cost_per_token_of_llama_and_deepseek) {
  KvPoolShape llama;  // 3.1 8B: 32 layers of 8 heads
  llama.num_pages = 1;
  llama.heads_kv = 8;
  llama.head_dim_k = llama.head_dim_v = 128;
  EXPECT_EQ((k_buffer_bytes(llama) + v_buffer_bytes(llama)) * 32, 131072);
  KvPoolShape deepseek;  // V3: 61 layers, one latent row
  deepseek.num_pages = 1;
  deepseek.heads_kv = 1;
  deepseek.head_dim_k = 576;
  deepseek.head_dim_v = 512;
  EXPECT_EQ(k_buffer_bytes(deepseek) * 61, 70272);
}

TEST(KvBufferBytes, count_beyond_32_bits) {
  KvPoolShape shape;
  shape.page_size = 16;
  shape.num_pages = 1 << 20;
  shape.heads_kv = 8;
  shape.head_dim_k = shape.head_dim_v = 128;
  EXPECT_EQ(k_buffer_bytes(shape), std::int64_t{1} << 35);
}

TEST(MlaPoolView, finds_values_in_the_first_columns_of_the_keys) {
  KvPoolShape shape;
  shape.page_size = 64;
  shape.num_pages = 2;
  shape.heads_kv = 1;
  shape.head_dim_k = 576;
  shape.head_dim_v = 512;
  std::vector<std::byte> kv(static_cast<std::size_t>(k_buffer_bytes(shape)));
  for (const auto layout : {KvLayout::kNhd, KvLayout::kHnd}) {
    shape.layout = layout;
    const KvPool pool = mla_pool_view(kv.data(), shape);
    EXPECT_EQ(pool.k, pool.v);
    EXPECT_EQ(pool.k_row(65, 0), pool.v_row(65, 0));
    EXPECT_EQ(pool.k_row(65, 0) - kv.data(), 65 * 576 * 2);
  }
  shape.heads_kv = 2;
  EXPECT_THROW(static_cast<void>(mla_pool_view(kv.data(), shape)), InternalError);
}

}  // namespace
}  // namespace attnbench
