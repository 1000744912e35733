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

}  // namespace
}  // namespace attnbench
