// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/kv_row_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "lib/base/counter_hash.h"
#include "lib/base/error.h"
#include "lib/batch/token_to_kv_pool.h"

namespace attnbench {
namespace {

constexpr std::int64_t kSlots = 12;

struct RowCache {
  explicit RowCache(const KvPoolShape& shape) {
    std::vector<std::byte*> data;
    for (const CacheBuffer& buffer : cache_buffers(shape)) {
      memory.emplace_back(static_cast<std::size_t>(buffer.bytes()), std::byte{0xff});
    }
    for (auto& each : memory) data.push_back(each.data());
    pool = kv_pool_view(data, shape);
    if (shape.format.scales == KvScales::kTensor && size_bytes(shape.format.dtype) == 1) {
      pool.k_scale = 0.5f;
      pool.v_scale = shape.family == Family::kLatent ? 0.5f : 0.25f;
    }
    if (shape.format.scales == KvScales::kHead) {
      for (int head = 0; head < shape.heads_kv; ++head) {
        pool.k_scales[head] = 0.5f + static_cast<float>(head);
        pool.v_scales[head] = 0.75f + static_cast<float>(head);
      }
    }
  }

  std::vector<std::vector<std::byte>> memory;
  KvPool pool;
};

/// Scales that a row brings along.
std::vector<float> own_scales(const KvPool& pool, std::int64_t slot, int head) {
  const float first = 0.5f * static_cast<float>(1 + (slot + head) % 3);
  if (pool.scales == KvScales::kToken) return {first};
  if (pool.scales == KvScales::kBlock) return {first, 2 * first};
  if (pool.scales == KvScales::kGroup) {
    return slot % 2 == 0 ? std::vector{0.5f, 1.0f, 2.0f} : std::vector{2.0f, 0.5f, 0.5f};
  }
  return {};
}

/// Multiples of 3 / 8 up to 3: exact in every dtype and behind each scale of the test, but for 3 *
/// 3 / 8 that some round.
std::vector<float> row_of_numbers(std::int64_t slot, int head, int dims, int salt) {
  std::vector<float> row;
  for (std::uint32_t dim = 0; dim < static_cast<std::uint32_t>(dims); ++dim) {
    const std::uint64_t key = row_key(7, Role::kK, static_cast<std::uint64_t>(salt), slot, head);
    row.push_back(static_cast<float>(static_cast<int>(element_bits(key, dim) % 17) - 8) * 0.375f);
  }
  return row;
}

std::vector<KvPoolShape> shapes() {
  std::vector<KvPoolShape> all;
  for (const KvLayout layout : kPoolLayouts) {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kE4M3, DType::kE5M2}) {
      for (const KvScales scales : {KvScales::kTensor, KvScales::kHead, KvScales::kToken}) {
        if (scales != KvScales::kTensor && size_bytes(dtype) > 1) continue;
        all.push_back({{dtype, layout, 4, scales}, 3, Family::kSoftmax, 2, 32, 32});
      }
    }
  }
  for (const KvScales scales : {KvScales::kTensor, KvScales::kToken, KvScales::kBlock}) {
    all.push_back({{DType::kE4M3, KvLayout::kNhd, 4, scales}, 3, Family::kLatent, 1, 272, 256});
  }
  all.push_back(
      {{DType::kE4M3, KvLayout::kNhd, 4, KvScales::kGroup}, 3, Family::kLatent, 1, 256, 256});
  return all;
}

TEST(KvRowCodec, reads_back_each_row_that_was_written_in_every_format) {
  for (const KvPoolShape& shape : shapes()) {
    SCOPED_TRACE(to_string(shape.format));
    const RowCache cache(shape);
    const KvPool& pool = cache.pool;
    const bool latent = shape.family == Family::kLatent;
    for (std::int64_t slot = 0; slot < kSlots; ++slot) {
      for (int head = 0; head < shape.heads_kv; ++head) {
        const auto scales = own_scales(pool, slot, head);
        encode_kv_row(pool, KvPart::kKey, slot, head,
                      row_of_numbers(slot, head, shape.head_dim_k, 1), scales);
        if (latent) continue;
        encode_kv_row(pool, KvPart::kValue, slot, head,
                      row_of_numbers(slot, head, shape.head_dim_v, 2), scales);
      }
    }
    for (std::int64_t slot = 0; slot < kSlots; ++slot) {
      for (int head = 0; head < shape.heads_kv; ++head) {
        for (const KvPart part : {KvPart::kKey, KvPart::kValue}) {
          const int dims = part == KvPart::kKey ? shape.head_dim_k : shape.head_dim_v;
          const auto want =
              row_of_numbers(slot, head, dims, part == KvPart::kKey || latent ? 1 : 2);
          std::vector<float> got(want.size());
          decode_kv_row(pool, part, slot, head, got);
          for (std::size_t i = 0; i < want.size(); ++i) {
            const int dim = static_cast<int>(i);
            const float scale = kv_scale_at(pool, part, slot, head, dim);
            // e5m2 keeps 3 of the 4 bits that some quotients have.
            ASSERT_EQ(got[i], rounded(pool.element_dtype(dim), want[i] / scale) * scale)
                << slot << " " << head << " " << dim;
            ASSERT_NEAR(got[i], want[i], 0.13 * std::abs(want[i])) << slot << " " << dim;
          }
        }
      }
    }
  }
}

TEST(KvRowCodec, rounds_through_the_scale_and_saturates) {
  const RowCache cache(
      {{DType::kE4M3, KvLayout::kNhd, 4, KvScales::kTensor}, 3, Family::kSoftmax, 1, 16, 16});
  std::vector<float> row(16, 3.3f);
  row[1] = 1000;
  encode_kv_row(cache.pool, KvPart::kKey, 5, 0, row);  // k_scale 0.5
  std::vector<float> stored(16), values(16);
  load_kv_row(cache.pool, KvPart::kKey, 5, 0, stored);
  decode_kv_row(cache.pool, KvPart::kKey, 5, 0, values);
  EXPECT_EQ(stored[0], 6.5f);
  EXPECT_EQ(values[0], 3.25f);
  EXPECT_EQ(stored[1], 448.0f);
}

TEST(KvRowCodec, finds_the_scale_of_a_tensor_a_head_and_a_token_where_each_belongs) {
  KvPoolShape shape{
      {DType::kE4M3, KvLayout::kNhd, 4, KvScales::kTensor}, 3, Family::kSoftmax, 2, 16, 16};
  const RowCache tensors(shape);
  EXPECT_EQ(kv_scale_at(tensors.pool, KvPart::kKey, 5, 1, 0), 0.5f);
  EXPECT_EQ(kv_scale_at(tensors.pool, KvPart::kValue, 5, 1, 0), 0.25f);
  shape.format.scales = KvScales::kHead;
  const RowCache heads(shape);
  EXPECT_EQ(kv_scale_at(heads.pool, KvPart::kKey, 5, 1, 0), 1.5f);
  EXPECT_EQ(kv_scale_at(heads.pool, KvPart::kValue, 5, 0, 0), 0.75f);
  EXPECT_EQ(kv_scale_at(heads.pool, KvPart::kValue, 5, 1, 0), 1.75f);
  KvPoolShape of_tokens = shape;
  of_tokens.format.scales = KvScales::kToken;
  const RowCache tokens(of_tokens);
  float scale = 1;
  for (const int head : {0, 1}) {
    for (const KvPart part : {KvPart::kKey, KvPart::kValue}) {
      store_kv_scales(tokens.pool, part, 5, head, std::span(&++scale, 1));
    }
  }
  EXPECT_EQ(kv_scale_at(tokens.pool, KvPart::kKey, 5, 0, 0), 2.0f);
  EXPECT_EQ(kv_scale_at(tokens.pool, KvPart::kValue, 5, 0, 0), 3.0f);
  EXPECT_EQ(kv_scale_at(tokens.pool, KvPart::kKey, 5, 1, 0), 4.0f);
  EXPECT_EQ(kv_scale_at(tokens.pool, KvPart::kValue, 5, 1, 0), 5.0f);
}

TEST(KvRowCodec, keeps_the_rope_part_of_a_row_with_scales_inside_in_bf16) {
  const RowCache cache(
      {{DType::kE4M3, KvLayout::kNhd, 4, KvScales::kBlock}, 3, Family::kLatent, 1, 272, 256});
  std::vector<float> row(272, 1.0078125f), values(272);
  encode_kv_row(cache.pool, KvPart::kKey, 5, 0, row, std::vector{2.0f, 0.5f});
  decode_kv_row(cache.pool, KvPart::kKey, 5, 0, values);
  EXPECT_EQ(values[255], 1.0f);
  EXPECT_EQ(values[256], 1.0078125f);
  EXPECT_EQ(kv_scale_at(cache.pool, KvPart::kKey, 5, 0, 127), 2.0f);
  EXPECT_EQ(kv_scale_at(cache.pool, KvPart::kKey, 5, 0, 128), 0.5f);
  EXPECT_THROW(encode_kv_row(cache.pool, KvPart::kKey, 5, 0, row), InternalError);
}

// A row of DeepSeek-V4 byte by byte, in slot 5 of pages of 4 tokens: e4m3 1 is 0x38, bf16
// 1.0078125 is 0x3f81, and a scale of 2^e is the byte 127 + e.
TEST(KvRowCodec, stores_a_row_with_groups_as_flash_mla_reads_it) {
  const RowCache cache(
      {{DType::kE4M3, KvLayout::kNhd, 4, KvScales::kGroup}, 2, Family::kLatent, 1, 512, 512});
  const std::vector scales{1.0f, 0.5f, 2.0f, 0x1p-22f, 0x1p-127f, 0x1p127f, 4.0f};
  std::vector<float> row(512, 1.0078125f), values(512);
  for (std::size_t d = 0; d < 448; ++d) row[d] = scales[d / 64];
  encode_kv_row(cache.pool, KvPart::kKey, 5, 0, row, scales);
  const std::byte* const page = cache.memory[0].data() + 2880;  // 4 x 584, up to 5 x 576
  EXPECT_EQ(cache.memory[0].size(), 2 * 2880u);
  for (int d = 0; d < 448; ++d) ASSERT_EQ(page[576 + d], std::byte{0x38}) << d;
  for (int d = 448; d < 576; ++d) {
    ASSERT_EQ(page[576 + d], d % 2 == 0 ? std::byte{0x81} : std::byte{0x3f}) << d;
  }
  const int exponents[] = {127, 126, 128, 105, 0, 254, 129, 0};
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(std::to_integer<int>(page[4 * 576 + 8 + i]), exponents[i]) << i;
  }
  EXPECT_EQ(page[575], std::byte{0xff}) << "the row before";
  EXPECT_EQ(page[2 * 576], std::byte{0xff}) << "the row behind";
  EXPECT_EQ(page[4 * 576 + 7], std::byte{0xff});
  EXPECT_EQ(page[4 * 576 + 16], std::byte{0xff});
  decode_kv_row(cache.pool, KvPart::kValue, 5, 0, values);
  EXPECT_EQ(values, row);
  EXPECT_TRUE(std::isnan(kv_scale_at(cache.pool, KvPart::kKey, 6, 0, 0))) << "0xff";
}

// 2^ceil(log2(max(amax, 1e-4) / 448)).
TEST(WrittenScale, of_a_group_is_a_power_of_two_and_no_less_than_that_of_1e_4) {
  const auto scale = [](float amax) { return written_scale(DType::kE4M3, KvScales::kGroup, amax); };
  EXPECT_EQ(scale(448), 1);
  EXPECT_EQ(scale(std::nextafter(448.0f, 500.0f)), 2);
  EXPECT_EQ(scale(225), 1);
  EXPECT_EQ(scale(224), 0.5f);
  EXPECT_EQ(scale(3), 0x1p-7f);
  EXPECT_EQ(scale(1e-4f), 0x1p-22f);
  EXPECT_EQ(scale(0), 0x1p-22f);
}

}  // namespace
}  // namespace attnbench
