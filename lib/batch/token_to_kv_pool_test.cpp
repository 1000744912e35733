// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/token_to_kv_pool.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/model/model_geometry.h"

namespace attnbench {
namespace {

KvPoolShape small(KvLayout layout) {
  KvPoolShape shape;
  shape.format = {DType::kF16, layout, 4, KvScales::kTensor};
  shape.num_pages = 3;
  shape.heads_kv = 2;
  shape.head_dim_k = shape.head_dim_v = 24;
  return shape;
}

KvPoolShape deepseek(KvScales scales, DType dtype) {
  KvPoolShape shape;
  shape.format = {dtype, KvLayout::kNhd, 64, scales};
  shape.num_pages = 2;
  shape.family = Family::kLatent;
  shape.heads_kv = 1;
  shape.head_dim_k = 576;
  shape.head_dim_v = 512;
  return shape;
}

/// A cache in memory of the test.
struct Cache {
  explicit Cache(const KvPoolShape& shape) : buffers(cache_buffers(shape)) {
    for (const CacheBuffer& buffer : buffers) {
      memory.emplace_back(static_cast<std::size_t>(buffer.bytes()));
    }
    std::vector<std::byte*> data;
    for (auto& each : memory) data.push_back(each.data());
    pool = kv_pool_view(data, shape);
  }

  std::vector<CacheBuffer> buffers;
  std::vector<std::vector<std::byte>> memory;
  KvPool pool;
};

// No byte is touched: the buffers are addresses.
TEST(KvPoolView, addresses_rows_beyond_2_32_elements) {
  for (const KvLayout layout : {KvLayout::kNhd, KvLayout::kHnd, KvLayout::kCombined}) {
    KvPoolShape shape = small(layout);
    shape.format.page_size = 16;
    shape.heads_kv = 8;
    shape.head_dim_k = shape.head_dim_v = 128;
    shape.num_pages = std::int64_t{1} << 19;  // 2^23 slots of 2^10 elements
    std::vector<std::byte*> data;
    std::uintptr_t next = 1u << 20;
    for (const CacheBuffer& buffer : cache_buffers(shape)) {
      data.push_back(reinterpret_cast<std::byte*>(next));
      next += static_cast<std::uintptr_t>(buffer.bytes());
    }
    const KvPool pool = kv_pool_view(data, shape);
    const std::int64_t page = pool.page_stride_k * 2;  // bytes
    EXPECT_EQ(page, 16 * 8 * 128 * 2);
    EXPECT_EQ(pool.k_row((shape.num_pages - 1) * 16, 0) - pool.k, (shape.num_pages - 1) * page);
    EXPECT_GT(pool.k_row(shape.num_pages * 16 - 1, 7) - pool.k, (std::int64_t{1} << 34) - page);
    EXPECT_GT(pool.v_row(shape.num_pages * 16 - 1, 7) - pool.v, (std::int64_t{1} << 34) - page);
    EXPECT_EQ(cache_bytes(shape), std::int64_t{1} << 35);
  }
}

TEST(KvPoolView, puts_heads_inside_tokens_for_nhd_and_tokens_inside_heads_for_hnd) {
  const KvPool nhd = Cache(small(KvLayout::kNhd)).pool;
  EXPECT_EQ(nhd.token_stride_k, 48);
  EXPECT_EQ(nhd.head_stride_k, 24);
  const KvPool hnd = Cache(small(KvLayout::kHnd)).pool;
  EXPECT_EQ(hnd.token_stride_k, 24);
  EXPECT_EQ(hnd.head_stride_k, 96);
  EXPECT_EQ(hnd.head_stride_v, 96);
  EXPECT_EQ(hnd.page_stride_k, nhd.page_stride_k);
}

TEST(KvPoolView, puts_values_behind_all_keys_of_a_combined_buffer) {
  const Cache cache(small(KvLayout::kCombined));
  ASSERT_EQ(cache.memory.size(), 1u);
  EXPECT_EQ(cache.pool.v - cache.pool.k, 3 * 4 * 2 * 24 * 2);
  EXPECT_EQ(cache.pool.k_row(5, 1) - cache.memory[0].data(), (5 * 2 + 1) * 24 * 2);
  EXPECT_EQ(cache.pool.v_row(5, 1) - cache.pool.k_row(5, 1), cache.pool.v - cache.pool.k);
}

// vLLM 0.33: kv_cache.transpose(1, 2).split(head_size, dim=-1) of [pages, heads, page, 2 * dim].
TEST(KvPoolView, puts_a_value_behind_its_key_in_a_row_of_both) {
  KvPoolShape shape = small(KvLayout::kJoint);
  shape.head_dim_v = 16;
  const Cache nhd(shape);
  EXPECT_EQ(nhd.buffers[0].shape, (std::vector<std::int64_t>{3, 4, 2, 40}));
  EXPECT_EQ(nhd.pool.k_row(5, 1) - nhd.memory[0].data(), (5 * 2 + 1) * 40 * 2);
  EXPECT_EQ(nhd.pool.v_row(5, 1) - nhd.pool.k_row(5, 1), 24 * 2);
  shape.format.layout = KvLayout::kJointHnd;
  const Cache hnd(shape);
  EXPECT_EQ(hnd.buffers[0].shape, (std::vector<std::int64_t>{3, 2, 4, 40}));
  EXPECT_EQ(hnd.pool.k_row(5, 1) - hnd.memory[0].data(), ((1 * 2 + 1) * 4 + 1) * 40 * 2);
  EXPECT_EQ(hnd.pool.v_row(5, 1) - hnd.pool.k_row(5, 1), 24 * 2);
}

// vLLM: a key's channel 19 in fp16 is at [b, h, 2, o, 3] of [blocks, heads, d / 8, block_size, 8],
// and a value's at [b, h, 19, o] of [blocks, heads, d, block_size].
TEST(KvPoolView, finds_channel_19_where_vllm_s_paged_attention_has_it) {
  const Cache cache(small(KvLayout::kXPacked));
  EXPECT_EQ(cache.buffers[0].shape, (std::vector<std::int64_t>{3, 2, 3, 4, 8}));
  EXPECT_EQ(cache.buffers[1].shape, (std::vector<std::int64_t>{3, 2, 24, 4}));
  const std::int64_t b = 2, h = 1, o = 3, slot = b * 4 + o;
  EXPECT_EQ(cache.pool.k_element(cache.pool.k_row(slot, h), 19) - cache.memory[0].data(),
            ((((b * 2 + h) * 3 + 2) * 4 + o) * 8 + 3) * 2);
  EXPECT_EQ(cache.pool.v_element(cache.pool.v_row(slot, h), 19) - cache.memory[1].data(),
            (((b * 2 + h) * 24 + 19) * 4 + o) * 2);
}

// FlashMLA's and vLLM's row of 656 bytes: 512 e4m3, 4 f32 scales, 64 bf16.
TEST(KvPoolView, finds_latent_scales_and_rope_in_a_row_of_656_bytes) {
  const Cache cache(deepseek(KvScales::kBlock, DType::kE4M3));
  EXPECT_EQ(cache.buffers[0].shape, (std::vector<std::int64_t>{2, 64, 1, 656}));
  EXPECT_FALSE(cache.buffers[0].dtype.has_value());
  std::byte* const row = cache.pool.k_row(65, 0);
  EXPECT_EQ(row - cache.memory[0].data(), 65 * 656);
  EXPECT_EQ(cache.pool.k_element(row, 511) - row, 511);
  EXPECT_EQ(cache.pool.block_scale(65, 0) - row, 512);
  EXPECT_EQ(cache.pool.block_scale(65, 3) - row, 524);
  EXPECT_EQ(cache.pool.k_element(row, 512) - row, 528);
  EXPECT_EQ(cache.pool.k_element(row, 575) - row, 654);
  EXPECT_EQ(cache.pool.element_dtype(511), DType::kE4M3);
  EXPECT_EQ(cache.pool.element_dtype(512), DType::kBF16);
  EXPECT_FALSE(cache.pool.has_plain_rows());
}

KvPoolShape deepseek_v4(std::int64_t page_size) {
  KvPoolShape shape = deepseek(KvScales::kGroup, DType::kE4M3);
  shape.format.page_size = page_size;
  shape.head_dim_k = 512;
  return shape;
}

// FlashMLA's and vLLM's row of 584 bytes: in a page first 448 e4m3 and 64 bf16 of each token, then
// 7 exponents and a zero of each. A page is as long as a whole number of rows of 576.
TEST(KvPoolView, finds_the_scales_of_rows_of_584_bytes_behind_their_page) {
  const Cache cache(deepseek_v4(64));
  EXPECT_EQ(cache.buffers.size(), 1u);
  EXPECT_EQ(cache.buffers[0].shape, (std::vector<std::int64_t>{2, 37376}));
  EXPECT_EQ(cache.buffers[0].strides, (std::vector<std::int64_t>{37440, 1}));
  EXPECT_EQ(cache.buffers[0].bytes(), 2 * 37440);
  EXPECT_FALSE(cache.buffers[0].dtype.has_value());
  const std::byte* const page = cache.memory[0].data() + 37440;
  std::byte* const row = cache.pool.k_row(64 + 5, 0);
  EXPECT_EQ(row - page, 5 * 576);
  EXPECT_EQ(cache.pool.v_row(64 + 5, 0), row);
  EXPECT_EQ(cache.pool.k_element(row, 447) - row, 447);
  EXPECT_EQ(cache.pool.k_element(row, 448) - row, 448);
  EXPECT_EQ(cache.pool.v_element(row, 511) - row, 448 + 2 * 63);
  EXPECT_EQ(cache.pool.element_dtype(447), DType::kE4M3);
  EXPECT_EQ(cache.pool.element_dtype(448), DType::kBF16);
  EXPECT_EQ(cache.pool.block_scale(64 + 5, 0) - page, 64 * 576 + 5 * 8);
  EXPECT_EQ(cache.pool.block_scale(64 + 5, 6) - page, 64 * 576 + 5 * 8 + 6);
  EXPECT_EQ(cache.pool.k_scales, nullptr);
  EXPECT_FALSE(cache.pool.has_plain_rows());
}

// vLLM's pages of two rows of 128 tokens, and pages of other layers between those of this one.
TEST(CacheBuffers, of_rows_of_584_bytes_have_pages_that_are_multiples_of_576) {
  EXPECT_EQ(cache_buffers(deepseek_v4(2))[0].shape, (std::vector<std::int64_t>{2, 1168}));
  EXPECT_EQ(cache_buffers(deepseek_v4(2))[0].strides[0], 1728);
  EXPECT_EQ(cache_buffers(deepseek_v4(72))[0].strides[0], 72 * 584) << "73 rows as they are";
  KvPoolShape apart = deepseek_v4(64);
  apart.format.page_stride = 128;
  EXPECT_EQ(cache_buffers(apart)[0].shape[1], 37376);
  EXPECT_EQ(cache_buffers(apart)[0].strides[0], 74880);
  const KvPool pool = Cache(apart).pool;
  EXPECT_EQ(pool.block_scale(64, 0) - pool.k_row(64, 0), 64 * 576);
}

TEST(BytesOfToken, are_those_of_its_row_and_of_scales_of_its_own) {
  EXPECT_EQ(bytes_of_token(deepseek_v4(64)), 584);
  EXPECT_EQ(bytes_of_token(deepseek_v4(1)), 584) << "without what a page is rounded up by";
  EXPECT_EQ(bytes_of_token(deepseek(KvScales::kBlock, DType::kE4M3)), 656);
  EXPECT_EQ(bytes_of_token(deepseek(KvScales::kToken, DType::kE4M3)), 576 + 4);
  EXPECT_EQ(bytes_of_token(deepseek(KvScales::kHead, DType::kE4M3)), 576);
  KvPoolShape apart = small(KvLayout::kHnd);
  apart.format.page_stride = 6;
  EXPECT_EQ(bytes_of_token(apart), 2 * 2 * 24 * 2);
}

TEST(DsMlaScales, are_groups_where_heads_are_rows_themselves) {
  ModelGeometry model;
  model.kv_lora_rank = model.qk_nope_head_dim = 512;
  EXPECT_EQ(ds_mla_scales(model), KvScales::kGroup) << "DeepSeek-V4";
  model.qk_nope_head_dim = 256;
  EXPECT_EQ(ds_mla_scales(model), KvScales::kBlock) << "GLM-5.3";
  model.qk_rope_head_dim = 64;
  EXPECT_EQ(ds_mla_scales(model), KvScales::kBlock) << "DeepSeek-V3.2";
}

TEST(ScalesRefusal, of_rows_with_groups_says_which_there_are) {
  AttentionLayer layer;
  CacheFormat format{.dtype = DType::kE4M3, .scales = KvScales::kGroup};
  EXPECT_EQ(scales_refusal(layer, format), "the 584-byte row with scales behind its page is MLA's");
  layer.family = Family::kLatent;
  for (const int dim : {128, 192, 512}) {
    layer.head_dim_qk = layer.head_dim_v = dim;
    EXPECT_EQ(scales_refusal(layer, format), "");
  }
  for (const int dim : {64, 100}) {
    layer.head_dim_qk = layer.head_dim_v = dim;
    EXPECT_NE(scales_refusal(layer, format).find("128, 192, 256 and so on"), std::string::npos);
  }
  layer.head_dim_qk = 576, layer.head_dim_v = 512;
  EXPECT_NE(scales_refusal(layer, format).find("64 columns of K only"), std::string::npos);
  format.dtype = DType::kE5M2;
  EXPECT_NE(scales_refusal(layer, format).find("is of e4m3"), std::string::npos);
}

/// Slots of a page and of what lies between two pages, which are none.
class EveryPlace : public testing::TestWithParam<std::int64_t> {};

TEST_P(EveryPlace, of_an_element_is_its_own_and_between_pages_there_are_as_many_more) {
  for (const KvLayout layout : kPoolLayouts) {
    SCOPED_TRACE(to_string(layout));
    KvPoolShape shape = small(layout);
    shape.format.page_stride = GetParam();
    const Cache cache(shape);
    const std::size_t apart = static_cast<std::size_t>(shape.format.tokens_apart());
    std::set<const std::byte*> places;
    for (std::int64_t slot = 0; slot < 12; ++slot) {
      for (int head = 0; head < 2; ++head) {
        for (int dim = 0; dim < 24; ++dim) {
          places.insert(cache.pool.k_element(cache.pool.k_row(slot, head), dim));
          places.insert(cache.pool.v_element(cache.pool.v_row(slot, head), dim));
        }
      }
    }
    std::size_t elements = 0;
    for (const auto& memory : cache.memory) {
      const std::size_t row = is_joint(layout) ? 48 : 24;
      const std::size_t page = apart * 2 * row * 2, rows = page / apart * 4;
      for (std::size_t at = 0; at < memory.size(); at += 2) {
        const std::size_t is_row = at % page < rows ? 1 : 0;
        EXPECT_EQ(places.count(memory.data() + at), is_row) << at;
        elements += is_row;
      }
    }
    EXPECT_EQ(places.size(), elements);
    for (const CacheBuffer& buffer : cache.buffers) {
      EXPECT_EQ(buffer.strides.back(), 1);
      const bool of_both = layout == KvLayout::kCombined || is_joint(layout);
      EXPECT_EQ(buffer.bytes(), (of_both ? 2 : 1) * 3 * apart * 2 * 24 * 2);
    }
  }
}
// The shortest stride, its other name, one that is no multiple, and one of several layers.
INSTANTIATE_TEST_SUITE_P(PageStrides, EveryPlace, testing::Values(0, 4, 5, 12));

// vLLM's _reshape_kv_cache: a page of the tensor that all layers share begins at a multiple of its
// bytes, whatever a layer's rows take of it.
TEST(CacheBuffers, have_the_stride_of_their_pages_and_are_dense_inside_of_them) {
  KvPoolShape shape = small(KvLayout::kHnd);
  shape.format.page_stride = 6;
  EXPECT_EQ(Cache(shape).buffers[0].strides, (std::vector<std::int64_t>{6 * 48, 4 * 24, 24, 1}));
  shape.format.layout = KvLayout::kCombined;
  EXPECT_EQ(Cache(shape).buffers[0].strides,
            (std::vector<std::int64_t>{3 * 6 * 48, 6 * 48, 48, 24, 1}));
  shape.format.layout = KvLayout::kXPacked;
  EXPECT_EQ(Cache(shape).buffers[0].strides, (std::vector<std::int64_t>{6 * 48, 4 * 24, 32, 8, 1}));
  EXPECT_EQ(Cache(shape).pool.page_stride_v, 6 * 48);
  shape = deepseek(KvScales::kBlock, DType::kE4M3);
  shape.format.page_stride = 65;
  const Cache blocks(shape);
  EXPECT_EQ(blocks.buffers[0].strides, (std::vector<std::int64_t>{65 * 656, 656, 656, 1}));
  EXPECT_EQ(blocks.pool.k_row(64, 0) - blocks.pool.k_row(0, 0), 65 * 656);
}

TEST(CacheBuffers, hold_scales_of_each_head_or_of_each_slot_and_head) {
  KvPoolShape shape = small(KvLayout::kHnd);
  shape.format.dtype = DType::kE5M2;
  shape.format.scales = KvScales::kHead;
  const Cache by_head(shape);
  ASSERT_EQ(by_head.buffers.size(), 4u);
  EXPECT_EQ(by_head.buffers[2].name, "k scales");
  EXPECT_EQ(by_head.buffers[3].shape, (std::vector<std::int64_t>{2}));
  EXPECT_NE(by_head.pool.k_scales, by_head.pool.v_scales);
  shape.format.scales = KvScales::kToken;
  EXPECT_EQ(Cache(shape).buffers[3].shape, (std::vector<std::int64_t>{12, 2}));
  const Cache latent(deepseek(KvScales::kToken, DType::kE4M3));
  ASSERT_EQ(latent.buffers.size(), 2u);
  EXPECT_EQ(latent.pool.k_scales, latent.pool.v_scales);
}

TEST(CacheBytes, match_the_known_cost_per_token_of_llama_and_deepseek) {
  KvPoolShape llama;  // 3.1 8B: 32 layers of 8 heads
  llama.num_pages = 1;
  llama.heads_kv = 8;
  llama.head_dim_k = llama.head_dim_v = 128;
  EXPECT_EQ(cache_bytes(llama) * 32, 131072);
  // V3: 61 layers, one latent row
  EXPECT_EQ(cache_bytes(deepseek(KvScales::kTensor, DType::kBF16)) / 128 * 61, 70272);
  EXPECT_EQ(cache_bytes(deepseek(KvScales::kBlock, DType::kE4M3)) / 128 * 61, 40016);
  EXPECT_EQ(cache_bytes(deepseek(KvScales::kTensor, DType::kE4M3)) / 128, 576);
}

TEST(CacheBytes, count_beyond_32_bits) {
  KvPoolShape shape;
  shape.format.page_size = 16;
  shape.num_pages = 1 << 20;
  shape.heads_kv = 8;
  shape.head_dim_k = shape.head_dim_v = 128;
  EXPECT_EQ(cache_bytes(shape), std::int64_t{1} << 36);
}

TEST(KvPoolView, finds_values_in_the_first_columns_of_an_mla_row) {
  KvPoolShape shape = deepseek(KvScales::kTensor, DType::kBF16);
  for (const KvLayout layout : {KvLayout::kNhd, KvLayout::kHnd}) {
    shape.format.layout = layout;
    const Cache cache(shape);
    EXPECT_EQ(cache.pool.k, cache.pool.v);
    EXPECT_EQ(cache.pool.k_row(65, 0), cache.pool.v_row(65, 0));
    EXPECT_EQ(cache.pool.k_row(65, 0) - cache.memory[0].data(), 65 * 576 * 2);
  }
  shape.heads_kv = 2;
  EXPECT_THROW(Cache{shape}, InternalError);
}

TEST(KvPoolView, refuses_what_cannot_be) {
  KvPoolShape shape = small(KvLayout::kCombined);
  shape.head_dim_v = 16;
  EXPECT_THROW(Cache{shape}, InternalError);
  shape = small(KvLayout::kXPacked);
  shape.head_dim_k = 20;
  EXPECT_THROW(Cache{shape}, InternalError);
  shape = deepseek(KvScales::kTensor, DType::kBF16);
  for (const KvLayout layout : {KvLayout::kXPacked, KvLayout::kJoint, KvLayout::kJointHnd}) {
    shape.format.layout = layout;
    EXPECT_THROW(Cache{shape}, InternalError);
  }
  EXPECT_THROW(Cache{deepseek(KvScales::kBlock, DType::kE5M2)}, InternalError);
  EXPECT_THROW(Cache{deepseek(KvScales::kToken, DType::kBF16)}, InternalError);
}

}  // namespace
}  // namespace attnbench
