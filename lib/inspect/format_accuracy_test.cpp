// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/format_accuracy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"
#include "lib/base/error.h"

namespace attnbench {
namespace {

AttentionLayer softmax_layer() {
  AttentionLayer layer;
  layer.heads_q = 4;
  layer.heads_kv = 2;
  layer.head_dim_qk = layer.head_dim_v = 128;
  layer.scale = 1 / std::sqrt(128.0);
  return layer;
}

AttentionLayer latent_layer() {
  AttentionLayer layer;
  layer.family = Family::kLatent;
  layer.heads_q = 2;
  layer.heads_kv = 1;
  layer.head_dim_qk = 192;
  layer.head_dim_v = 128;
  layer.scale = 1 / std::sqrt(192.0);
  return layer;
}

FormatAccuracy one(const AttentionLayer& layer, const StoredAs& stored, const AccuracyData& data) {
  const std::vector<StoredAs> ways{stored};
  return accuracy_of(layer, ways, data).front();
}

/// The value at position 0 of a KV head, as the command draws it.
std::vector<float> first_value(int head) {
  std::vector<float> row;
  for (std::uint32_t dim = 0; dim < 128; ++dim) {
    row.push_back(rounded(DType::kBF16, normal_element(row_key(0, Role::kV, 0, 0, head), dim)));
  }
  return row;
}

/// With a single key the output is the stored value, so that its error is known in closed form.
double nmse_of_one_value(DType dtype, const std::function<float(int head)>& scale_of) {
  double error = 0, size = 0;
  for (int head = 0; head < 2; ++head) {
    const float scale = scale_of(head);
    for (const float value : first_value(head)) {
      const double stored = static_cast<double>(rounded(dtype, value / scale)) * scale;
      error += (value - stored) * (value - stored);
      size += static_cast<double>(value) * value;
    }
  }
  return error / size;
}

float largest_of(int head) {
  float largest = 0;
  for (const float value : first_value(head)) largest = std::max(largest, std::abs(value));
  return largest;
}

constexpr AccuracyData kOneKey{.keys = 1, .queries = 1};

TEST(FormatAccuracy, of_bf16_is_perfect) {
  const FormatAccuracy found =
      one(softmax_layer(), {DType::kBF16}, {.keys = 70, .queries = 5, .outlier_factor = 20});
  EXPECT_EQ(found.cosine_mean, 1);
  EXPECT_EQ(found.cosine_min, 1);
  EXPECT_NEAR(found.nmse, 0, 1e-15);
  EXPECT_EQ(found.lse_max, 0);
  EXPECT_EQ(found.top1, 1);
}

TEST(FormatAccuracy, of_one_key_is_that_of_its_stored_value) {
  const AttentionLayer layer = softmax_layer();
  const auto both = std::max(largest_of(0), largest_of(1));
  for (const DType dtype : {DType::kE4M3, DType::kE5M2}) {
    const float top = largest_finite(dtype);
    EXPECT_NEAR(one(layer, {dtype}, kOneKey).nmse,
                nmse_of_one_value(dtype, [](int) { return 1.0f; }), 1e-12);
    EXPECT_NEAR(one(layer, {dtype, KvScales::kTensor, true}, kOneKey).nmse,
                nmse_of_one_value(dtype, [&](int) { return both / top; }), 1e-12);
    const double by_head =
        nmse_of_one_value(dtype, [&](int head) { return largest_of(head) / top; });
    EXPECT_NEAR(one(layer, {dtype, KvScales::kHead}, kOneKey).nmse, by_head, 1e-12);
    EXPECT_NEAR(one(layer, {dtype, KvScales::kToken}, kOneKey).nmse, by_head, 1e-12);
  }
}

TEST(FormatAccuracy, of_fewer_bits_is_worse) {
  const AccuracyData data{.keys = 300, .queries = 8};
  const FormatAccuracy e4m3 = one(softmax_layer(), {DType::kE4M3}, data),
                       e5m2 = one(softmax_layer(), {DType::kE5M2}, data);
  EXPECT_GT(e4m3.nmse, 1e-4);
  EXPECT_GT(e5m2.nmse, 2 * e4m3.nmse);
  EXPECT_LT(e5m2.cosine_mean, e4m3.cosine_mean);
  EXPECT_LT(e5m2.cosine_min, e5m2.cosine_mean);
  EXPECT_GT(e5m2.lse_max, e4m3.lse_max);
  EXPECT_LT(e5m2.top1, 1);
}

TEST(FormatAccuracy, of_queries_in_fp8_is_paid_by_the_weights_alone) {
  const StoredAs queries{DType::kBF16, KvScales::kTensor, false, DType::kE4M3};
  EXPECT_NEAR(one(softmax_layer(), queries, kOneKey).nmse, 0, 1e-15) << "one key has weight 1";
  const AccuracyData data{.keys = 300, .queries = 8};
  const FormatAccuracy found = one(softmax_layer(), queries, data);
  const StoredAs cache{DType::kE4M3, KvScales::kTensor, true};
  StoredAs both = cache;
  both.queries = DType::kE4M3;
  EXPECT_GT(found.nmse, 1e-5);
  EXPECT_LT(found.nmse, one(softmax_layer(), cache, data).nmse);
  EXPECT_GT(one(softmax_layer(), both, data).nmse, one(softmax_layer(), cache, data).nmse);
  EXPECT_EQ(both.name(), "e4m3, a scale per tensor, Q in e4m3");
}

TEST(FormatAccuracy, suffers_from_outliers_among_the_keys) {
  AccuracyData data{.keys = 300, .queries = 8};
  const double nmse = one(softmax_layer(), {DType::kE4M3}, data).nmse;
  data.outlier_factor = 20;
  EXPECT_GT(one(softmax_layer(), {DType::kE4M3}, data).nmse, 3 * nmse);
}

TEST(FormatAccuracy, of_latent_rows_keeps_the_rope_part_in_blocks_of_scales) {
  const AccuracyData data{.keys = 300, .queries = 8};
  const FormatAccuracy plain = one(latent_layer(), {DType::kE4M3, KvScales::kTensor, true}, data),
                       block = one(latent_layer(), {DType::kE4M3, KvScales::kBlock}, data);
  EXPECT_LT(block.lse_max, plain.lse_max);
  EXPECT_EQ(plain.bytes_per_token, 192);
  EXPECT_EQ(block.bytes_per_token, 128 + 4 + 2 * 64);
}

TEST(FormatAccuracy, of_rows_with_groups_keeps_the_last_columns_in_bf16) {
  AttentionLayer layer = latent_layer();
  layer.head_dim_qk = layer.head_dim_v = 192;
  const AccuracyData data{.keys = 300, .queries = 8};
  const FormatAccuracy plain = one(layer, {DType::kE4M3, KvScales::kTensor, true}, data),
                       group = one(layer, {DType::kE4M3, KvScales::kGroup}, data);
  EXPECT_EQ(group.bytes_per_token, 128 + 2 * 64 + 8);
  EXPECT_LT(group.lse_max, plain.lse_max);
  EXPECT_LT(group.nmse, plain.nmse);
  EXPECT_GT(group.nmse, 0);
}

TEST(FormatAccuracy, counts_the_bytes_of_scales) {
  const AccuracyData data{.keys = 8, .queries = 1};
  EXPECT_EQ(one(softmax_layer(), {DType::kBF16}, data).bytes_per_token, 2 * 2 * 128 * 2);
  EXPECT_EQ(one(softmax_layer(), {DType::kE4M3}, data).bytes_per_token, 2 * 2 * 128);
  EXPECT_EQ(one(softmax_layer(), {DType::kE4M3, KvScales::kToken}, data).bytes_per_token,
            2 * 2 * (128 + 4));
}

TEST(WaysToStore, are_those_that_the_layer_can_have) {
  const auto has_blocks = [](const AttentionLayer& layer) {
    const std::vector<StoredAs> ways = ways_to_store(layer);
    return std::ranges::any_of(ways,
                               [](const StoredAs& way) { return way.scales == KvScales::kBlock; });
  };
  EXPECT_EQ(ways_to_store(softmax_layer()).front().name(), "bf16");
  EXPECT_EQ(ways_to_store(softmax_layer())[2].name(), "e4m3, scale 1");
  EXPECT_FALSE(has_blocks(softmax_layer()));
  EXPECT_TRUE(has_blocks(latent_layer()));
  AttentionLayer recurrent;
  recurrent.family = Family::kGatedDeltaNet;
  EXPECT_THROW(static_cast<void>(ways_to_store(recurrent)), ConfigError);
}

TEST(FormatAccuracy, has_the_lowest_cosine_of_all_heads) {
  double lowest = 1;
  for (int heads = 1; heads <= 6; ++heads) {  // those before are the same
    AttentionLayer layer = softmax_layer();
    layer.heads_kv = heads;
    layer.heads_q = 2 * heads;
    const FormatAccuracy found = one(layer, {DType::kE4M3}, {.keys = 64, .queries = 4});
    EXPECT_LE(found.cosine_min, lowest) << heads;
    EXPECT_LE(found.cosine_min, found.cosine_mean);
    lowest = found.cosine_min;
  }
}

}  // namespace
}  // namespace attnbench
