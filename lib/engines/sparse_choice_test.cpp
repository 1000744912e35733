// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "lib/engines/engine_choice.h"
#include "lib/engines/engine_setup_of.h"

// What engines take for models whose layers choose keys by ways of their own.
namespace attnbench {
namespace {

using testing::HasSubstr;

EngineSetup of_model(const char* name, const char* arch) {
  return engine_setup_of(*find_model(name), 1, *find_engine_device(arch));
}

TEST(EngineChoice, of_models_that_bring_their_sparse_layers_is_theirs) {
  for (const auto& [model, arch, of_sglang, of_vllm] :
       {std::tuple{"deepseek-v4-flash", "sm90", "dsv4", "FLASHMLA_SPARSE_DSV4"},
        {"deepseek-v4-flash", "sm120", "dsv4", "FLASHINFER_MLA_SPARSE_DSV4"},
        {"minimax-m3", "sm90", "fa3", "MINIMAX_M3_SPARSE"},
        {"minimax-m3", "sm100", "fa4", "MINIMAX_M3_SPARSE"},
        {"qwen3.8-flash-next", "sm90", "qsa", "QWEN4_EXP_QSA_TRITON"},
        {"glm-5.3-flash", "sm90", "dsa", "FLASHINFER_MLA_SPARSE_SM90"}}) {
    const EngineSetup setup = of_model(model, arch);
    EXPECT_EQ(choose_backend(Engine::kSglang, setup).backend, of_sglang) << model << ", " << arch;
    EXPECT_EQ(choose_backend(Engine::kVllm, setup).backend, of_vllm) << model << ", " << arch;
    for (const Engine engine : kEngines) {
      EXPECT_EQ(choose_backend(engine, setup).caveat, "") << model << ", " << arch;
    }
  }
  EngineSetup fp8 = of_model("minimax-m3", "sm100");
  fp8.kv_dtype = DType::kE4M3;
  EXPECT_EQ(choose_backend(Engine::kSglang, fp8).backend, "trtllm_mha");
}

TEST(EngineChoice, of_a_backend_that_a_model_brings_has_no_flag_that_names_it) {
  EXPECT_EQ(choose_backend(Engine::kVllm, of_model("minimax-m3", "sm90")).flags,
            "--block-size 128");
  EXPECT_EQ(choose_backend(Engine::kVllm, of_model("qwen3.8-flash-next", "sm90")).flags, "");
  EXPECT_EQ(choose_backend(Engine::kSglang, of_model("qwen3.8-flash-next", "sm90")).flags,
            "--page-size 64");
  EXPECT_EQ(choose_backend(Engine::kVllm, of_model("deepseek-v4-flash", "sm90")).flags,
            "--attention-backend FLASHMLA_SPARSE_DSV4 --block-size 256");
}

TEST(EngineVersions, without_a_model_say_so) {
  EngineSetup setup = of_model("minimax-m3", "sm90");
  setup.version[static_cast<std::size_t>(Engine::kVllm)] = 1;
  EXPECT_EQ(choose_backend(Engine::kVllm, setup).reason,
            "vLLM 0.22 has no sparse layers of MiniMax-M3");
  setup = of_model("glm-5.3-flash", "sm90");
  setup.version = {1, 1};
  for (const Engine engine : kEngines) {
    EXPECT_THAT(choose_backend(engine, setup).reason, HasSubstr("no indexer of pools")) << "none";
    EXPECT_EQ(choose_backend(engine, setup).backend, "");
  }
}

}  // namespace
}  // namespace attnbench
