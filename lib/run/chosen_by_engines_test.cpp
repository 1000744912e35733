// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/chosen_by_engines.h"

#include <gtest/gtest.h>

#include "lib/scenario/testing/small_cases.h"

namespace attnbench {
namespace {

TEST(ChosenByEngines, follows_the_gpu_of_the_run) {
  Case c = small_plain_decode();
  c.dtype = DType::kBF16;
  c.kv_cache.page_size = 16;  // vLLM's kernels read no other small pages
  DeviceInfo gpu{.kind = DeviceKind::kCuda, .name = "NVIDIA H200", .arch = "sm_90"};
  EXPECT_EQ(chosen_by_engines(c, gpu).sglang, "fa3");
  EXPECT_EQ(chosen_by_engines(c, gpu).vllm, "FLASH_ATTN");
  gpu.arch = "sm_100";
  EXPECT_EQ(chosen_by_engines(c, gpu).sglang, "trtllm_mha");
  gpu.arch = "sm_999";
  EXPECT_EQ(chosen_by_engines(c, gpu).sglang, "");
}

TEST(ChosenByEngines, is_of_servers_for_deterministic_inference_where_that_is_asked_for) {
  Case c = small_plain_decode();
  c.dtype = DType::kBF16;
  c.kv_cache.page_size = 16;  // vLLM's kernels read no other small pages
  const DeviceInfo gpu{.kind = DeviceKind::kCuda, .name = "NVIDIA B200", .arch = "sm_100"};
  EXPECT_EQ(chosen_by_engines(c, gpu, true).sglang, "flashinfer");
  EXPECT_EQ(chosen_by_engines(c, gpu, true).vllm, "FLASH_ATTN");
}

TEST(ChosenByEngines, tells_what_a_feature_takes_away_from_an_engine_without_a_word) {
  Case c = small_plain_decode();
  c.dtype = c.kv_cache.dtype = DType::kBF16;
  c.kv_cache.page_size = 16;
  c.layer.head_dim_qk = c.layer.head_dim_v = 128;
  const DeviceInfo gpu{.kind = DeviceKind::kCuda, .name = "NVIDIA L40S", .arch = "sm_89"};
  EXPECT_EQ(chosen_by_engines(c, gpu).vllm_instead_of, "");
  EXPECT_EQ(chosen_by_engines(c, gpu).vllm_graph, "");
  c.kv_cache.dtype = DType::kE4M3;
  EXPECT_EQ(chosen_by_engines(c, gpu).vllm, "FLASHINFER");
  EXPECT_EQ(chosen_by_engines(c, gpu).vllm_instead_of, "FLASH_ATTN");
  c.kv_cache.dtype = DType::kBF16;
  c.layer.attention_chunk = 32;
  EXPECT_EQ(chosen_by_engines(c, gpu).vllm_graph, "no CUDA graph of chunked layers");
}

TEST(ChosenByEngines, is_of_steps_with_softmax_attention_alone) {
  const DeviceInfo gpu{.kind = DeviceKind::kCuda, .name = "NVIDIA H200", .arch = "sm_90"};
  Case write = small_plain_decode();
  write.step = StepPart::kKvWrite;
  EXPECT_EQ(chosen_by_engines(write, gpu).sglang, "");
  Case recurrent = small_plain_decode();
  recurrent.layer.family = Family::kGatedDeltaNet;
  EXPECT_EQ(chosen_by_engines(recurrent, gpu).vllm, "");
}

}  // namespace
}  // namespace attnbench
