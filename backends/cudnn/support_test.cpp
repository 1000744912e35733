// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cudnn/support.h"

#include <gmock/gmock.h>

#include <numeric>
#include <string>

#include "lib/fixture/testing/small_cases.h"
#include "lib/scenario/problem_of.h"

namespace attnbench::cudnn {
namespace {

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
