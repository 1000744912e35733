// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// What the command line says of serving engines' own choices.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/attnbench/testing/command_line.h"

namespace attnbench {
namespace {

TEST_F(CommandLine, selects_what_engines_take_for_a_model) {
  EXPECT_EQ(run({"select", "--model", "deepseek-v3", "--tp", "8", "--arch", "sm90", "--kv-dtype",
                 "e4m3", "--format", "json"}),
            0)
      << err_.str();
  const auto engines = nlohmann::json::parse(out_.str())["engines"];
  EXPECT_EQ(engines[0]["backend"], "fa3");
  EXPECT_EQ(engines[0]["caveat"], "no fp8 cache");
  EXPECT_EQ(engines[1]["backend"], "FLASHMLA");
  EXPECT_EQ(engines[1]["flags"],
            "--attention-backend FLASHMLA --block-size 64 --kv-cache-dtype fp8_e4m3");
  EXPECT_EQ(run({"select", "--model", "llama-3.1-8b", "--arch", "sm_90", "--topk", "4",
                 "--page-size", "16"}),
            0);
  EXPECT_NE(out_.str().find("--attention-backend flashinfer --page-size 16 "
                            "--speculative-eagle-topk 4"),
            std::string::npos)
      << out_.str();
}

TEST_F(CommandLine, selects_for_rows_of_fp8_ds_mla_and_for_determinism) {
  EXPECT_EQ(run({"select", "--model", "deepseek-v3.2", "--tp", "8", "--arch", "sm90", "--kv-dtype",
                 "fp8_ds_mla", "--format", "json"}),
            0)
      << err_.str();
  auto engines = nlohmann::json::parse(out_.str())["engines"];
  EXPECT_EQ(engines[0]["backend"], "dsa");
  EXPECT_EQ(engines[1]["flags"],
            "--attention-backend FLASHMLA_SPARSE --block-size 64 --kv-cache-dtype fp8_ds_mla");
  EXPECT_EQ(run({"select", "--model", "llama-3.1-8b", "--arch", "sm100", "--deterministic",
                 "--format", "json"}),
            0);
  engines = nlohmann::json::parse(out_.str())["engines"];
  EXPECT_EQ(engines[0]["backend"], "flashinfer");
  EXPECT_EQ(engines[1]["backend"], "FLASH_ATTN");
  EXPECT_EQ(run({"select", "--model", "llama-3.1-8b", "--arch", "sm90", "--kv-dtype", "f32"}), 4);
}

TEST_F(CommandLine, refuses_a_model_and_a_device_that_it_does_not_know) {
  EXPECT_EQ(run({"select", "--model", "llama-3.1-9b", "--arch", "sm90"}), 4);
  EXPECT_NE(err_.str().find("unknown model 'llama-3.1-9b'   did you mean 'llama-3.1-8b'?"),
            std::string::npos)
      << err_.str();
  EXPECT_EQ(run({"select", "--model", "llama-3.1-8b", "--arch", "gfx943"}), 4);
  EXPECT_NE(
      err_.str().find("unknown device 'gfx943'   did you mean 'gfx942'?   allowed here: sm75"),
      std::string::npos)
      << err_.str();
  EXPECT_EQ(run({"select", "--model", "llama-3.1-8b", "--arch", "H100"}), 4);
  EXPECT_NE(err_.str().find("unknown device 'H100'   did you mean 'sm90'?"), std::string::npos)
      << err_.str();
  EXPECT_EQ(run({"select", "--model", "llama-3.1-8b", "--arch", "sm90", "--tp", "7"}), 4);
  EXPECT_EQ(run({"select", "--model", "llama-3.1-8b"}), 4);
}

TEST_F(CommandLine, compares_the_selection_with_results) {
  std::ofstream(scenario_) << R"(
mixes:
  chat: {model: gemma-3-1b, dtype: f32, kv_cache: {dtype: f32}, batch: [{mode: decode, kv_len: 9}]}
verify: {rows: 8}
)";
  const std::string results = folder_ + "r.json";
  ASSERT_EQ(run({"run", scenario_.c_str(), "--quick", "--backend", "torch_native", "--json",
                 results.c_str()}),
            0)
      << err_.str();
  EXPECT_EQ(out_.str().find("would take"), std::string::npos) << "no GPU takes part";
  EXPECT_EQ(run({"select", results.c_str(), "--model", "gemma-3-1b", "--arch", "sm90"}), 0)
      << err_.str();
  EXPECT_NE(out_.str().find("fastest correct: torch_native"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"select", results.c_str(), "--arch", "sm90"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("gemma-3-1b · tp 1 · sm90"), std::string::npos)
      << "the results name their model: " << out_.str();
  EXPECT_NE(out_.str().find("to time the kernels that they launch: attnbench run " + scenario_ +
                            " --plugin packs --backend "),
            std::string::npos)
      << out_.str();
  EXPECT_EQ(run({"select", results.c_str()}), 4);
  EXPECT_NE(err_.str().find("--arch is needed"), std::string::npos) << "there was no GPU";
  EXPECT_EQ(run({"select", scenario_.c_str(), "--arch", "sm90"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("gemma-3-1b · tp 1 · sm90"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"select", results.c_str(), "--model", "qwen3-8b", "--arch", "sm90"}), 4);
  EXPECT_NE(err_.str().find("they are of: gemma-3-1b at tp 1"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, asks_which_of_several_models_of_a_file_to_select_for) {
  std::ofstream(scenario_) << R"(
mixes:
  a: {model: gemma-3-1b, batch: 1q1s9}
  b: {model: qwen3-8b, tp: 2, batch: 1q1s9}
)";
  EXPECT_EQ(run({"select", scenario_.c_str(), "--arch", "sm90"}), 4);
  EXPECT_NE(err_.str().find("--model is needed: the file has gemma-3-1b at tp 1, qwen3-8b at tp 2"),
            std::string::npos)
      << err_.str();
  EXPECT_EQ(run({"select", scenario_.c_str(), "--arch", "sm90", "--tp", "2"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("qwen3-8b · tp 2"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"select", "--arch", "sm90"}), 4);
  EXPECT_NE(err_.str().find("--model is needed: a preset"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, asks_for_a_model_where_a_file_writes_its_layers_out) {
  std::ofstream(scenario_) << R"(
mixes:
  a: {model: {heads_q: 4, heads_kv: 2, head_dim: 32}, batch: 1q1s9}
)";
  EXPECT_EQ(run({"select", scenario_.c_str(), "--arch", "sm90"}), 4);
  EXPECT_NE(err_.str().find("engines choose for a model, and the file writes layers out"),
            std::string::npos)
      << err_.str();
  std::ofstream(scenario_, std::ios::app) << "  b: {model: qwen3-8b, batch: 1q1s9}\n";
  EXPECT_EQ(run({"select", scenario_.c_str(), "--arch", "sm90"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("qwen3-8b · tp 1"), std::string::npos) << out_.str();
}

TEST_F(CommandLine, asks_engines_instead_of_backends_for_support) {
  EXPECT_EQ(run({"support", scenario_.c_str(), "--engines", "--arch", "sm90"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("tiny  SGLang  fa3"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"support", scenario_.c_str(), "--engines", "--format", "json"}), 0);
  EXPECT_FALSE(nlohmann::json::parse(out_.str())["answers"].empty());
  EXPECT_EQ(run({"support", scenario_.c_str(), "--engines", "--arch", "cpu"}), 0);
  EXPECT_NE(out_.str().find("tiny  SGLang  intel_amx"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"support", scenario_.c_str(), "--arch", "sm90"}), 4);
  EXPECT_EQ(run({"support", scenario_.c_str(), "--engines", "--backend", "cpu_flash"}), 4);
}

}  // namespace
}  // namespace attnbench
