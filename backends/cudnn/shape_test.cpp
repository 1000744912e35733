// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "backends/cudnn/shape.h"
#include "lib/fixture/fixture.h"
#include "lib/scenario/problem_of.h"
#include "lib/scenario/testing/case_builder.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench::cudnn {
namespace {

AttentionShape shape_in(const Case& c, std::uint64_t placement_salt = 0) {
  const auto device = make_cpu_device();
  const Fixture fixture(c, *device, placement_salt);
  return shape_of(fixture.batch());
}

AttentionShape recorded_shape(const Case& c, std::int64_t max_kv_len) {
  const auto device = make_cpu_device();
  const Fixture fixture(c, *device);
  const Problem problem = recorded_problem_of(c, max_kv_len);
  ForwardBatch batch = fixture.batch();
  batch.problem = &problem;
  return shape_of(batch);
}

/// Requests of these query tokens and keys in pages of 16.
Case step(ForwardMode mode, const std::vector<TokenCounts>& lengths) {
  Case c = small_prefix_hits();
  c.mode = mode;
  c.prefixes.clear();
  c.requests.clear();
  add_requests(c, "some", lengths);
  return c;
}

TEST(CudnnShape, has_room_for_the_longest_request_in_whole_pages) {
  const AttentionShape shape = shape_in(step(ForwardMode::kMixed, {{1, 5}, {3, 40}, {7, 33}}));
  EXPECT_EQ(shape.requests, 3);
  EXPECT_EQ(shape.q_len, 7);
  EXPECT_EQ(shape.kv_len, 48);
  EXPECT_EQ(shape.pages_per_request(), 3);
  EXPECT_TRUE(shape.ragged);
}

TEST(CudnnShape, knows_that_equally_many_queries_need_no_ragged_offsets) {
  EXPECT_FALSE(shape_in(step(ForwardMode::kExtend, {{4, 9}, {4, 20}})).ragged);
  EXPECT_FALSE(shape_in(step(ForwardMode::kDecode, {{1, 9}, {1, 20}})).ragged);
}

TEST(CudnnShape, does_not_take_rows_of_no_request_for_queries_of_some) {
  Case decode = step(ForwardMode::kDecode, {{1, 9}, {1, 20}});
  Case ragged = step(ForwardMode::kExtend, {{3, 9}, {5, 20}});
  decode.padding.tokens = 2;  // as many as each request has
  ragged.padding.tokens = 2;  // which makes as many rows as requests of 5 have
  EXPECT_FALSE(shape_in(decode).ragged);
  EXPECT_TRUE(shape_in(ragged).ragged);
}

TEST(CudnnShape, is_the_same_for_the_same_lengths_in_other_places) {
  const Case c = step(ForwardMode::kDecode, {{1, 9}, {1, 20}});
  const Case shorter = step(ForwardMode::kDecode, {{1, 11}, {1, 17}});
  EXPECT_EQ(shape_in(c), shape_in(c, 17));
  AttentionShape other = shape_in(shorter);
  other.num_pages = shape_in(c).num_pages;
  EXPECT_EQ(shape_in(c), other);
  EXPECT_NE(shape_in(c), shape_in(step(ForwardMode::kDecode, {{1, 9}, {1, 33}})));
}

TEST(CudnnShape, reads_the_new_keys_where_no_prompt_has_a_prefix) {
  const AttentionShape prompts = shape_in(step(ForwardMode::kExtend, {{20, 20}, {5, 5}}));
  EXPECT_FALSE(prompts.paged());
  EXPECT_EQ(prompts.kv_len, 20);
  EXPECT_EQ(prompts.k.row, (RowStrides{2 * 64, 64}));
  EXPECT_TRUE(shape_in(step(ForwardMode::kExtend, {{20, 20}, {5, 6}})).paged());
  EXPECT_TRUE(shape_in(step(ForwardMode::kDecode, {{1, 1}, {1, 1}})).paged());
  EXPECT_TRUE(shape_in(small_cross()).paged());
}

TEST(CudnnShape, reads_a_cache_with_scales_even_so) {
  Case c = step(ForwardMode::kExtend, {{20, 20}});
  c.kv_cache.v_scale = 0.5f;
  EXPECT_TRUE(shape_in(c).paged());
  EXPECT_TRUE(shape_in(c).scales_values);
  c.kv_cache.v_scale = 1;
  EXPECT_FALSE(shape_in(c).scales_values);
}

TEST(CudnnShape, leaves_out_masks_that_hide_nothing) {
  const Case decode = step(ForwardMode::kDecode, {{1, 9}, {1, 20}});
  EXPECT_FALSE(shape_in(decode).hides_ahead);
  Case extend = step(ForwardMode::kExtend, {{4, 9}, {5, 20}});
  EXPECT_TRUE(shape_in(extend).hides_ahead);
  EXPECT_FALSE(shape_in(extend).hides_before);
  extend.layer.sliding_window_size = 18;  // 19 keys of 20
  EXPECT_TRUE(shape_in(extend).hides_before);
  EXPECT_FALSE(shape_in(extend).sees_ahead);
  extend.layer.sliding_window_size = 19;
  EXPECT_FALSE(shape_in(extend).hides_before);
  extend.layer.causal = false;
  EXPECT_FALSE(shape_in(extend).hides_ahead);
  EXPECT_FALSE(shape_in(extend).sees_ahead);
  extend.layer.sliding_window_size = 3;
  EXPECT_TRUE(shape_in(extend).hides_ahead);
  EXPECT_TRUE(shape_in(extend).sees_ahead);
}

TEST(CudnnShape, of_a_recorded_step_is_that_of_the_largest_one) {
  const Case c = step(ForwardMode::kDecode, {{1, 9}, {1, 20}});
  const AttentionShape shape = recorded_shape(c, 1000);
  EXPECT_EQ(shape.requests, 2);
  EXPECT_EQ(shape.kv_len, 1008);
  EXPECT_EQ(shape, recorded_shape(step(ForwardMode::kDecode, {{1, 19}, {1, 16}}), 1000));
}

std::string refusal_of(const Case& c) { return supports(problem_of(c)).reason(); }

/// Prompts in bf16 with pages of 4.
Case prompts() {
  Case c = small_sliding_window();
  c.layer.sliding_window_size = -1;
  c.layer.logit_cap = 0;
  c.layer.has_sinks = false;
  return c;
}

Case decodes() {
  Case c = small_plain_decode();
  c.dtype = c.kv_cache.dtype = DType::kF16;
  return c;
}

TEST(CudnnSupport, takes_decodes_prompts_and_mixed_steps_in_16_bits) {
  for (const Case& c : {decodes(), prompts(), small_prefix_hits(), small_chunked_mixed()}) {
    EXPECT_EQ(refusal_of(c), "") << c.id;
  }
}

TEST(CudnnSupport, refuses_rows_without_keys) {
  Case no_keys = decodes(), more_queries = prompts(), no_encoder = small_cross();
  no_keys.requests.back().kv_len = 0;
  more_queries.requests.back().kv_len = more_queries.requests.back().q_len - 1;
  no_encoder.requests.back().kv_len = 0;
  for (const Case& c : {no_keys, more_queries, no_encoder}) {
    EXPECT_EQ(refusal_of(c), "no rows without keys: cuDNN writes NaN for them") << c.id;
  }
}

TEST(CudnnSupport, takes_windows_encoders_cross_attention_and_heads_of_192_and_128) {
  Case window = prompts(), encoder = prompts(), uneven = prompts();
  window.layer.sliding_window_size = 7;
  encoder.layer.causal = false;
  encoder.layer.sliding_window_size = 7;
  uneven.layer.head_dim_qk = 192;
  uneven.layer.head_dim_v = 128;
  for (const Case& c : {window, encoder, uneven, small_cross()}) EXPECT_EQ(refusal_of(c), "");
}

TEST(CudnnSupport, takes_sinks_with_prompts_but_not_with_decodes) {
  Case prompt = prompts(), decode = decodes();
  prompt.layer.has_sinks = decode.layer.has_sinks = true;
  EXPECT_EQ(refusal_of(prompt), "");
  EXPECT_EQ(refusal_of(decode),
            "no sinks in steps of one query token per request, only in longer ones");
}

TEST(CudnnSupport, says_what_it_does_not_compute) {
  Case f32 = prompts(), fp8 = prompts(), capped = prompts(), slopes = prompts();
  f32.dtype = f32.kv_cache.dtype = DType::kF32;
  fp8.kv_cache.dtype = DType::kE4M3;
  capped.layer.logit_cap = 30;
  slopes.layer.has_alibi = true;
  EXPECT_THAT(refusal_of(f32), testing::StartsWith("activations in bf16 or f16"));
  EXPECT_THAT(refusal_of(fp8), testing::StartsWith("KV cache in the activations' type only"));
  EXPECT_THAT(refusal_of(capped), testing::StartsWith("no softcap"));
  EXPECT_THAT(refusal_of(slopes), testing::StartsWith("no ALiBi"));
  EXPECT_THAT(refusal_of(small_tree_verify()), testing::StartsWith("no draft trees that branch"));
  EXPECT_THAT(refusal_of(small_mla()), testing::StartsWith("no MLA"));
  EXPECT_THAT(refusal_of(small_delta_nets().front()), testing::StartsWith("no recurrent layers"));
}

TEST(CudnnSupport, takes_chains_of_drafts_as_the_ends_of_prompts) {
  Case chain = small_tree_verify();
  for (Request& request : chain.requests) {
    request.tree_parents.resize(static_cast<std::size_t>(request.q_len));
    std::iota(request.tree_parents.begin(), request.tree_parents.end(), -1);
  }
  chain.dtype = chain.kv_cache.dtype = DType::kBF16;
  EXPECT_EQ(refusal_of(chain), "");
}

TEST(CudnnSupport, takes_head_dims_and_pages_that_cudnn_can_address) {
  Case c = prompts();
  for (const int dim : {8, 96, 256}) {
    c.layer.head_dim_qk = c.layer.head_dim_v = dim;
    EXPECT_EQ(refusal_of(c), "") << dim;
  }
  for (const int dim : {100, 264}) {
    c.layer.head_dim_v = dim;
    EXPECT_EQ(refusal_of(c), "head dims that are multiples of 8, at most 256") << dim;
  }
  for (const std::int64_t page_size : {1, 2, 64, 24}) {
    Case pages = prompts();
    pages.kv_cache.page_size = page_size;
    EXPECT_EQ(refusal_of(pages), page_size == 24 ? "page sizes that are powers of two only" : "")
        << page_size;
  }
}

}  // namespace

}  // namespace attnbench::cudnn
