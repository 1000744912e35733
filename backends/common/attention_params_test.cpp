// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/attention_params.h"

#include <gtest/gtest.h>

#include "lib/base/error.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/problem.h"

namespace attnbench {
namespace {

/// Eight query heads over two KV heads, where every stride differs from every other.
struct StridedStep {
  StridedStep() {
    problem.layer.heads_q = 8;
    problem.layer.heads_kv = 2;
    problem.layer.scale = 0.5;
    pool.k = memory;
    pool.v = memory + 1;
    pool.dtype = DType::kE4M3;
    pool.page_size = 16;
    pool.k_scale = 3;
    pool.v_scale = 5;
    pool.page_stride_k = 101, pool.token_stride_k = 102, pool.head_stride_k = 103;
    pool.page_stride_v = 104, pool.token_stride_v = 105, pool.head_stride_v = 106;
    batch.problem = &problem;
    batch.token_to_kv_pool = &pool;
    batch.tensors.q = {memory + 2, DType::kBF16, {}, {107, 108}};
    batch.tensors.out = {memory + 3, DType::kBF16, {}, {109, 110}};
    batch.tensors.lse = {memory + 4, DType::kF32, {}, {111, 112}};
    batch.tensors.sinks = &sink;
  }
  [[nodiscard]] AttentionParams params() const {
    AttentionParams params;
    set_attention_params(params, batch);
    return params;
  }

  std::byte memory[5] = {};
  float sink = 0;
  Problem problem;
  KvPool pool;
  ForwardBatch batch;
};

TEST(AttentionParams, join_the_scale_of_outputs_to_that_of_values) {
  StridedStep step;
  step.batch.tensors.out_scale = 2;
  step.batch.tensors.out.dtype = DType::kE4M3;
  const AttentionParams p = step.params();
  EXPECT_EQ(p.v_scale, 2.5f);
  EXPECT_EQ(p.out_dtype, DType::kE4M3);
  EXPECT_EQ(p.out_token_stride, 109) << "bytes";
}

TEST(AttentionParams, step_over_the_scales_of_a_request) {
  StridedStep step;
  float scales[4] = {};
  step.pool.heads_kv = 2;
  step.pool.k_scales = scales;
  step.pool.v_scales = scales + 2;
  step.pool.scales = KvScales::kHead;
  EXPECT_EQ(step.params().request_scales, 0);
  step.pool.scales = KvScales::kRequest;
  EXPECT_EQ(step.params().request_scales, 2);
  EXPECT_EQ(step.params().k_scales, scales);
  EXPECT_EQ(step.params().v_scales, scales + 2);
}

TEST(AttentionParams, give_every_stride_in_bytes_of_its_own_tensor) {
  const StridedStep step;
  const AttentionParams p = step.params();
  EXPECT_EQ(p.k_page_stride, 101);
  EXPECT_EQ(p.k_token_stride, 102);
  EXPECT_EQ(p.k_head_stride, 103);
  EXPECT_EQ(p.v_page_stride, 104);
  EXPECT_EQ(p.v_token_stride, 105);
  EXPECT_EQ(p.v_head_stride, 106);
  EXPECT_EQ(p.q_token_stride, 2 * 107);
  EXPECT_EQ(p.q_head_stride, 2 * 108);
  EXPECT_EQ(p.out_token_stride, 2 * 109);
  EXPECT_EQ(p.out_head_stride, 2 * 110);
  EXPECT_EQ(p.lse_token_stride, 4 * 111);
  EXPECT_EQ(p.lse_head_stride, 4 * 112);
}

TEST(AttentionParams, give_every_address) {
  const StridedStep step;
  const AttentionParams p = step.params();
  EXPECT_EQ(p.k, step.memory);
  EXPECT_EQ(p.v, step.memory + 1);
  EXPECT_EQ(p.q, step.memory + 2);
  EXPECT_EQ(p.out, step.memory + 3);
  EXPECT_EQ(p.lse, step.memory + 4);
  EXPECT_EQ(p.sinks, &step.sink);
  EXPECT_EQ(p.custom_mask, nullptr);
}

TEST(AttentionParams, take_the_scale_of_the_keys_into_the_logits_and_keep_that_of_the_values) {
  const AttentionParams p = StridedStep().params();
  EXPECT_EQ(p.scale, 1.5f);
  EXPECT_EQ(p.v_scale, 5.0f);
  EXPECT_EQ(p.group, 4);
  EXPECT_EQ(p.heads_kv, 2);
  EXPECT_EQ(p.page_size, 16);
}

TEST(AttentionParams, know_by_how_many_bits_to_shift_a_key_for_its_page) {
  StridedStep step;
  EXPECT_EQ(step.params().page_shift, 4);
  step.pool.page_size = 1;
  EXPECT_EQ(step.params().page_shift, 0);
  step.pool.page_size = 48;
  EXPECT_EQ(step.params().page_shift, -1);
}

TEST(AttentionParams, never_are_causal_in_cross_attention) {
  StridedStep step;
  EXPECT_TRUE(step.params().causal);
  step.problem.layer.is_cross_attention = true;
  EXPECT_FALSE(step.params().causal);
}

TEST(AttentionParams, tell_of_alibi_by_its_power_of_two) {
  StridedStep step;
  EXPECT_EQ(step.params().alibi_power, 0);
  step.problem.layer.has_alibi = true;
  EXPECT_EQ(step.params().alibi_power, 8);
}

TEST(AttentionParams, tell_of_blocks) {
  StridedStep step;
  EXPECT_EQ(step.params().block, 1);
  step.problem.layer.causal_block = 32;
  EXPECT_EQ(step.params().block, 32);
}

TEST(AttentionParams, tell_of_a_temperature_by_the_logarithm_of_its_length) {
  StridedStep step;
  EXPECT_EQ(step.params().temperature_len, 0);
  step.problem.layer.temperature_len = 1024;
  EXPECT_EQ(step.params().temperature_len, 1024);
  EXPECT_FLOAT_EQ(step.params().temperature_per_log2, 0.1f);
}

TEST(AttentionParams, refuse_a_window_or_a_chunk_that_kernels_cannot_count) {
  StridedStep step;
  step.problem.layer.attention_chunk = 8192;
  EXPECT_EQ(step.params().chunk, 8192);
  step.problem.layer.attention_chunk = std::int64_t{1} << 31;
  EXPECT_THROW(static_cast<void>(step.params()), InternalError);
  step.problem.layer.attention_chunk = 0;
  step.problem.layer.sliding_window_size = std::int64_t{1} << 31;
  EXPECT_THROW(static_cast<void>(step.params()), InternalError);
}

}  // namespace
}  // namespace attnbench
