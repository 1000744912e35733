// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/engine_rules/engine_backends.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace attnbench {
namespace {

struct Asked {
  Engine engine = Engine::kSglang;
  std::string_view name;
  EngineSetup setup;

  [[nodiscard]] std::string refusal() const {
    return refusal_of(*find_engine_backend(engine, name, setup), setup);
  }
};

Asked about(Engine engine, std::string_view name, std::string_view device) {
  Asked asked{engine, name, {}};
  asked.setup.device = *find_engine_device(device);
  asked.setup.heads_q = 32;
  asked.setup.head_dim_qk = asked.setup.head_dim_v = 128;
  return asked;
}

Asked about_mla(Engine engine, std::string_view name, std::string_view device) {
  Asked asked = about(engine, name, device);
  asked.setup.is_mla = true;
  return asked;
}

TEST(EngineBackends, take_the_pages_that_their_kernels_read) {
  Asked asked = about_mla(Engine::kSglang, "flashmla", "sm90");
  asked.setup.page_size = 16;
  EXPECT_EQ(asked.refusal(), "pages of 64 only, not 16");
  asked.setup.page_size = 128;
  EXPECT_EQ(asked.refusal(), "pages of 64 only, not 128");
  asked.setup.page_size = 64;
  EXPECT_EQ(asked.refusal(), "");
  asked.name = "FLASHMLA", asked.engine = Engine::kVllm, asked.setup.page_size = 128;
  EXPECT_EQ(asked.refusal(), "");
  asked.name = "FLASH_ATTN_MLA", asked.setup.page_size = 1;
  EXPECT_EQ(asked.refusal(), "pages of 16 or multiples, not 1");
  asked.name = "fa3", asked.engine = Engine::kSglang;
  EXPECT_EQ(asked.refusal(), "");
  asked = about(Engine::kSglang, "trtllm_mha", "sm100");
  asked.setup.page_size = 128;
  EXPECT_EQ(asked.refusal(), "pages of 16, 32, 64 only, not 128");
  asked.name = "cutlass_mla", asked.setup.is_mla = true;
  EXPECT_EQ(asked.refusal(), "");
}

TEST(EngineBackends, take_drafts_as_the_matrices_of_the_documentation_say) {
  const auto with = [](Asked asked, int topk, std::int64_t page_size) {
    asked.setup.topk = topk;
    asked.setup.page_size = page_size;
    return asked.refusal();
  };
  for (const std::string_view name : {"fa3", "triton"}) {
    const Asked plain = about(Engine::kSglang, name, "sm90");
    const Asked latent = about_mla(Engine::kSglang, name, "sm90");
    for (const Asked& asked : {plain, latent}) {
      EXPECT_EQ(with(asked, 1, 64), "") << name;
      EXPECT_EQ(with(asked, 4, 1), "") << name;
      EXPECT_EQ(with(asked, 4, 16), "topk 4 over pages of 1 only, not 16") << name;
    }
  }
  EXPECT_EQ(with(about(Engine::kSglang, "flashinfer", "sm90"), 4, 16), "");
  EXPECT_EQ(with(about_mla(Engine::kSglang, "flashinfer", "sm90"), 4, 1),
            "drafts with topk 1 only, not 4");
  EXPECT_EQ(with(about_mla(Engine::kSglang, "flashmla", "sm90"), 2, 64),
            "drafts with topk 1 only, not 2");
  EXPECT_EQ(with(about(Engine::kSglang, "trtllm_mha", "sm100"), 4, 64),
            "drafts with topk 1 only, not 4");
  EXPECT_EQ(with(about(Engine::kSglang, "torch_native", "sm90"), 1, 1), "no speculative decoding");
  EXPECT_EQ(with(about(Engine::kSglang, "flex_attention", "sm90"), 1, 1),
            "no speculative decoding");
  EXPECT_EQ(with(about(Engine::kVllm, "FLASH_ATTN", "sm90"), 4, 16),
            "drafts with topk 1 only, not 4");
  EXPECT_EQ(with(about(Engine::kVllm, "TREE_ATTN", "sm90"), 4, 16), "");
}

TEST(EngineBackends, differ_in_fp8_caches_sinks_windows_cross_attention_and_softcap) {
  struct Row {
    Engine engine;
    std::string_view name, device;
    bool mla;
    std::string_view fp8, sinks, window, cross, softcap;
  };
  constexpr std::string_view kYes = "", kFp8 = "no fp8 cache", kSinks = "no sinks",
                             kWindow = "no sliding window", kCross = "no cross attention",
                             kCap = "no softcap";
  constexpr Engine kS = Engine::kSglang, kV = Engine::kVllm;
  for (const Row& row : {Row{kS, "flashinfer", "sm90", false, kYes, kSinks, kYes, kYes, kYes},
                         {kS, "fa3", "sm90", false, kYes, kYes, kYes, kYes, kYes},
                         {kS, "triton", "sm90", false, kYes, kYes, kYes, kCross, kYes},
                         {kS, "trtllm_mha", "sm100", false, kYes, kYes, kYes, kYes, kCap},
                         {kS, "torch_native", "sm90", false, kFp8, kSinks, kWindow, kCross, kCap},
                         {kS, "flashinfer", "sm90", true, kFp8, kSinks, kWindow, kCross, kCap},
                         {kS, "flashmla", "sm90", true, kYes, kSinks, kWindow, kCross, kCap},
                         {kS, "cutlass_mla", "sm100", true, kYes, kSinks, kWindow, kCross, kCap},
                         {kS, "trtllm_mla", "sm100", true, kYes, kSinks, kWindow, kCross, kCap},
                         {kS, "fa3", "sm90", true, kFp8, kSinks, kWindow, kCross, kCap},
                         {kS, "aiter", "gfx942", false, kFp8, kSinks, kWindow, kCross, kCap},
                         {kV, "FLASH_ATTN", "sm80", false, kFp8, kSinks, kYes, kYes, kYes},
                         {kV, "FLASH_ATTN", "sm90", false, kYes, kYes, kYes, kYes, kYes},
                         {kV, "FLASHINFER", "sm90", false, kYes, kSinks, kYes, kCross, kYes},
                         {kV, "FLASHINFER", "sm100", false, kYes, kYes, kYes, kCross, kYes},
                         {kV, "TRITON_ATTN", "sm80", false, kYes, kYes, kYes, kYes, kYes},
                         {kV, "FLASHMLA", "sm90", true, kYes, kSinks, kWindow, kCross, kCap}}) {
    const auto with = [&](auto set) {
      Asked asked = about(row.engine, row.name, row.device);
      asked.setup.is_mla = row.mla;
      set(asked.setup);
      return asked.refusal();
    };
    EXPECT_EQ(with([](EngineSetup&) {}), "") << row.name;
    EXPECT_EQ(with([](EngineSetup& s) { s.kv_dtype = DType::kE4M3; }), row.fp8) << row.name;
    EXPECT_EQ(with([](EngineSetup& s) { s.has_sinks = true; }), row.sinks) << row.name;
    EXPECT_EQ(with([](EngineSetup& s) { s.has_window = true; }), row.window) << row.name;
    EXPECT_EQ(with([](EngineSetup& s) { s.is_encoder_decoder = true; }), row.cross) << row.name;
    EXPECT_EQ(with([](EngineSetup& s) { s.has_logit_cap = true; }), row.softcap) << row.name;
  }
}

TEST(EngineBackends, claim_the_graph_levels_of_vllms_classes) {
  const auto with = [](std::string_view name, std::string_view device, CudaGraphSupport graph) {
    Asked asked = about(Engine::kVllm, name, device);
    asked.setup.is_mla = name.find("MLA") != std::string_view::npos;
    asked.setup.graph = graph;
    return asked.refusal().empty();
  };
  using Level = CudaGraphSupport;
  EXPECT_TRUE(with("FLASH_ATTN", "sm90", Level::kAlways));
  EXPECT_FALSE(with("FLASH_ATTN", "sm80", Level::kAlways));
  EXPECT_TRUE(with("FLASH_ATTN", "sm80", Level::kUniformBatch));
  EXPECT_TRUE(with("TRITON_ATTN", "sm80", Level::kAlways));
  EXPECT_FALSE(with("FLASHINFER", "sm90", Level::kUniformBatch));
  EXPECT_TRUE(with("FLASHINFER", "sm90", Level::kUniformSingleTokenDecode));
  EXPECT_TRUE(with("FLASHINFER", "sm100", Level::kUniformBatch));
  EXPECT_TRUE(with("FLASHMLA", "sm90", Level::kUniformBatch));
  EXPECT_FALSE(with("FLASHMLA", "sm90", Level::kAlways));
  EXPECT_FALSE(with("CUTLASS_MLA", "sm100", Level::kUniformBatch));
  EXPECT_FALSE(with("FLEX_ATTENTION", "sm90", Level::kUniformSingleTokenDecode));
  Asked asked = about(Engine::kVllm, "FLASHINFER", "sm90");
  asked.setup.graph = Level::kUniformBatch;
  EXPECT_EQ(asked.refusal(),
            "no CUDA graph of such a step: it needs UNIFORM_BATCH, FLASHINFER claims "
            "UNIFORM_SINGLE_TOKEN_DECODE");
}

TEST(EngineBackends, run_on_the_gpus_that_they_are_built_for) {
  EXPECT_EQ(about(Engine::kSglang, "trtllm_mha", "sm90").refusal(), "built for sm100 to sm109");
  EXPECT_EQ(about(Engine::kSglang, "trtllm_mha", "sm120").refusal(), "built for sm100 to sm109");
  EXPECT_EQ(about(Engine::kSglang, "fa3", "sm80").refusal(), "");
  EXPECT_EQ(about_mla(Engine::kSglang, "fa3", "sm80").refusal(), "built for sm90");
  EXPECT_EQ(about(Engine::kSglang, "flashinfer", "sm75").refusal(), "built for sm80 and later");
  EXPECT_EQ(about(Engine::kSglang, "flashmla", "sm90").refusal(), "for MLA only");
  EXPECT_EQ(about_mla(Engine::kSglang, "trtllm_mha", "sm100").refusal(),
            "for separate heads of K and V only");
}

TEST(EngineBackends, of_vllm_have_k_and_v_of_one_head_dim_but_for_one) {
  Asked asked = about(Engine::kVllm, "FLASH_ATTN_DIFFKV", "sm90");
  EXPECT_EQ(asked.refusal(), "K and V of different head dims only");
  asked.setup.head_dim_qk = 192;
  EXPECT_EQ(asked.refusal(), "");
  asked.name = "FLASH_ATTN";
  EXPECT_EQ(asked.refusal(), "K and V of one head dim, not 192 and 128");
}

TEST(EngineBackends, are_listed_once_for_a_family_of_layers) {
  for (const EngineDevice& device : engine_devices()) {
    for (const Engine engine : kEngines) {
      std::set<std::pair<std::string_view, EngineBackend::Layers>> seen;
      for (const EngineBackend* backend : engine_backends(engine, device)) {
        EXPECT_TRUE(seen.emplace(backend->name, backend->layers).second)
            << backend->name << " on " << device.name;
      }
    }
  }
}

}  // namespace
}  // namespace attnbench
