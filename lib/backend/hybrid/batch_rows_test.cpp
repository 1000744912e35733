// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/hybrid/batch_rows.h"

#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <span>

#include "lib/index/host_indices.h"
#include "lib/index/testing/test_batch.h"

namespace attnbench {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kPage = 4;

/// A decode, a chunk of 3 after 2 keys, a chunk of 2, and two decodes: 8 tokens, 2 heads, 4 dims.
class BatchRowsTest : public testing::Test {
 protected:
  BatchRowsTest()
      : whole_(ForwardMode::kMixed,
               {slots_from(1, kPage, 7), slots_from(3, kPage, 5), slots_from(5, kPage, 2),
                slots_from(6, kPage, 9), slots_from(9, kPage, 1)},
               {1, 3, 2, 1, 1}) {
    ForwardBatch& batch = whole_.batch;
    for (std::int64_t t = 0; t < 8; ++t) {
      batch.positions.push_back(100 + t);
      batch.out_cache_loc.push_back(200 + t);
    }
    batch.extend_start_loc = {0, 1, 4, 6, 7};
    AttentionTensors& tensors = batch.tensors;
    tensors.q = ConstTensorView::dense(q_.data(), DType::kF16, 8, 2, 4);
    tensors.out = TensorView::dense(out_.data(), DType::kF16, 8, 2, 4);
    tensors.lse = TensorView::dense(lse_.data(), DType::kF32, 8, 2, 1);
    tensors.k_new = ConstTensorView{};  // a layer that is given none
    host_.emplace(batch, kPage);
    batch.device_batch = &host_->batch();
    problem_.limits = {5, 3, 15, 9};
  }

  [[nodiscard]] BatchRows rows(ForwardMode mode, std::int64_t first, std::int64_t count) {
    problem_.mode = mode;
    return {whole_.batch, first, count, problem_, memory_};
  }

  TestBatch whole_;
  std::array<std::byte, 128> q_{}, out_{};
  std::array<std::byte, 64> lse_{};
  std::optional<HostIndices> host_;
  Problem problem_;
  std::unique_ptr<Device> device_ = make_cpu_device();
  PlanMemory memory_{*device_};
};

TEST_F(BatchRowsTest, of_prompts_are_a_batch_of_their_own_on_the_rows_of_the_whole_one) {
  const BatchRows chunks = rows(ForwardMode::kExtend, 1, 2);
  const ForwardBatch& batch = chunks.batch();
  EXPECT_EQ(batch.forward_mode, ForwardMode::kExtend);
  EXPECT_EQ(batch.batch_size, 2);
  EXPECT_THAT(batch.req_pool_indices, ElementsAre(4, 3)) << "test batches count down";
  EXPECT_THAT(batch.seq_lens, ElementsAre(5, 2));
  EXPECT_EQ(batch.seq_lens_sum, 7);
  EXPECT_THAT(batch.extend_seq_lens, ElementsAre(3, 2));
  EXPECT_THAT(batch.extend_prefix_lens, ElementsAre(2, 0));
  EXPECT_THAT(batch.extend_start_loc, ElementsAre(0, 3));
  EXPECT_EQ(batch.extend_num_tokens, 5);
  EXPECT_THAT(batch.positions, ElementsAre(101, 102, 103, 104, 105));
  EXPECT_THAT(batch.out_cache_loc, ElementsAre(201, 202, 203, 204, 205));
  EXPECT_EQ(batch.tensors.q.data, q_.data() + 16) << "one token of 2 heads of 4 f16";
  EXPECT_EQ(batch.tensors.q.shape[0], 5);
  EXPECT_EQ(batch.tensors.out.data, out_.data() + 16);
  EXPECT_EQ(batch.tensors.lse.data, lse_.data() + 8);
  EXPECT_EQ(batch.tensors.k_new.data, nullptr);
  expect_step_of(*batch.problem, batch);
}

TEST_F(BatchRowsTest, of_decodes_have_no_arrays_of_an_extend_step) {
  const BatchRows decodes = rows(ForwardMode::kDecode, 3, 2);
  const ForwardBatch& batch = decodes.batch();
  EXPECT_EQ(batch.q_tokens(), 2);
  EXPECT_EQ(batch.q_len(1), 1);
  EXPECT_EQ(batch.kv_len(0), 9);
  EXPECT_TRUE(batch.extend_seq_lens.empty());
  EXPECT_TRUE(batch.extend_prefix_lens.empty());
  EXPECT_EQ(batch.tensors.out.data, out_.data() + std::ptrdiff_t{6} * 16);
}

TEST_F(BatchRowsTest, keep_the_scales_of_their_own_requests) {
  std::array<float, 16> scales{};
  KvPool pool;
  problem_.layer.heads_q = problem_.layer.heads_kv = pool.heads_kv = 2;
  problem_.cache.scales = pool.scales = KvScales::kRequest;
  pool.k_scales = pool.v_scales = scales.data();
  whole_.batch.token_to_kv_pool = &pool;
  whole_.batch.tensors.q_scales = scales.data();
  problem_.fp8.q_scales = QScales::kRequest;
  const BatchRows decodes = rows(ForwardMode::kDecode, 3, 2);
  EXPECT_EQ(decodes.batch().token_to_kv_pool->k_scales, scales.data() + 6);
  EXPECT_EQ(decodes.batch().token_to_kv_pool->v_scales, scales.data() + 6);
  EXPECT_EQ(decodes.batch().tensors.q_scales, scales.data() + 6);
  problem_.cache.scales = pool.scales = KvScales::kHead;
  problem_.fp8.q_scales = QScales::kHead;
  const BatchRows of_heads = rows(ForwardMode::kDecode, 3, 2);
  EXPECT_EQ(of_heads.batch().token_to_kv_pool->k_scales, scales.data());
  EXPECT_EQ(of_heads.batch().tensors.q_scales, scales.data());
  problem_.fp8.q_scales = QScales::kToken;
  EXPECT_EQ(rows(ForwardMode::kDecode, 3, 2).batch().tensors.q_scales,
            scales.data() + std::ptrdiff_t{6} * problem_.layer.heads_q)
      << "behind the first request's token and the two chunks'";
}

TEST_F(BatchRowsTest, lead_kernels_to_their_part_of_the_index_tensors) {
  const BatchRows chunks = rows(ForwardMode::kExtend, 1, 2);
  const DeviceBatch &part = device_batch_of(chunks.batch()), &all = host_->batch();
  EXPECT_THAT(std::span(part.qo_indptr, 3), ElementsAre(0, 3, 5)) << "it begins with 0";
  EXPECT_THAT(std::span(part.kv_lens, 2), ElementsAre(5, 2));
  EXPECT_THAT(std::span(part.req_pool_indices, 2), ElementsAre(4, 3));
  EXPECT_THAT(std::span(part.positions, 2), ElementsAre(101, 102));
  EXPECT_THAT(std::span(part.out_cache_loc, 2), ElementsAre(201, 202));
  EXPECT_EQ(part.block_table, all.block_table + all.block_table_width);
  EXPECT_EQ(part.req_to_token, all.req_to_token) << "rows of it are found by req_pool_indices";
  const BatchRows last = rows(ForwardMode::kDecode, 4, 1);  // the eighth token
  const DeviceBatch& one = device_batch_of(last.batch());
  EXPECT_EQ(one.kv_lens, all.kv_lens + 4);
  EXPECT_EQ(one.req_pool_indices, all.req_pool_indices + 4);
  EXPECT_EQ(one.block_table, all.block_table + 4 * all.block_table_width);
  EXPECT_EQ(one.positions, all.positions + 7);
  EXPECT_EQ(one.out_cache_loc, all.out_cache_loc + 7);
}

}  // namespace
}  // namespace attnbench
