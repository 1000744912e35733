// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/engine_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "lib/report/json.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kMixes = R"(
mixes:
  tree:
    model: llama-3.1-8b
    kv_cache: {page_size: 16}
    batch: [{mode: target_verify, prefix_len: 64, tree: {topk: 2, depth: 1, tokens: 3}}]
  latent:
    model: deepseek-v3
    tp: 8
    kv_cache: {page_size: 32, dtype: e4m3}
    batch: [{mode: decode, kv_len: 64}]
  linear:
    model: qwen3-next-80b-a3b
    layer: linear
    batch: [{mode: decode, kv_len: 64}]
)";

std::string answer_of(const std::string& measure, bool json = false, const char* arch = "sm90") {
  const Scenario scenario = parse_scenario(kMixes + measure, "engines.yaml");
  EngineSupportQuestion question{scenario, {}, *find_engine_device(arch)};
  for (const Case& c : scenario.cases) question.cases.push_back(&c);
  std::ostringstream out;
  (json ? write_engine_support_json : write_engine_support_table)(question, out);
  return out.str();
}

TEST(EngineSupport, says_which_configuration_falls_back_and_why) {
  const std::string table = answer_of("");
  EXPECT_THAT(table, HasSubstr("engines on sm90\ncase    engine  backend            takes it\n"));
  EXPECT_THAT(table, HasSubstr("\ntree    SGLang  flashinfer         yes (taken by default)\n"));
  EXPECT_THAT(table, HasSubstr("\ntree    SGLang  fa3                no: topk 2 over pages of 1 "
                               "only, not 16\n"));
  EXPECT_THAT(table,
              HasSubstr("\nlatent  SGLang  flashmla           no: pages of 64 only, not 32\n"));
  EXPECT_THAT(table, HasSubstr("\nlatent  SGLang  fa3                no: no fp8 cache (taken by "
                               "default)\n"));
  EXPECT_THAT(table, HasSubstr("\nlatent  vLLM    FLASHMLA           no: pages of 64 or multiples, "
                               "not 32 (taken by default)\n"));
  EXPECT_THAT(table, Not(HasSubstr("latent  vLLM    FLASH_ATTN ")));
  EXPECT_THAT(table, Not(HasSubstr("linear  SGLang")));
  EXPECT_THAT(table, HasSubstr("\nlinear  a recurrent layer: engines choose no attention backend"));
}

TEST(EngineSupport, counts_graphs_where_the_scenario_asks_for_them) {
  EXPECT_THAT(answer_of(""), Not(HasSubstr("CUDA graph")));
  EXPECT_THAT(
      answer_of("measure: {launch: [eager, graph]}\n"),
      HasSubstr("\nlatent  vLLM    TRITON_MLA         yes, but no CUDA graph of such a step: "
                "it needs UNIFORM_SINGLE_TOKEN_DECODE, TRITON_MLA claims NEVER\n"));
}

TEST(EngineSupport, names_heads_that_an_engine_pads) {
  const std::string more =
      "  padded: {model: deepseek-v3, tp: 8, kv_cache: {page_size: 128}, batch: 2q1s64}\n"
      "  whole: {model: deepseek-v3, kv_cache: {page_size: 128}, batch: 2q1s64}\n";
  const std::string table = answer_of(more, false, "sm100");
  EXPECT_THAT(table, HasSubstr("\npadded  SGLang  cutlass_mla        yes, 16 query heads padded to "
                               "128\n"));
  EXPECT_THAT(table, HasSubstr("\npadded  vLLM    CUTLASS_MLA        yes, 16 query heads padded to "
                               "128\n"));
  EXPECT_THAT(table, HasSubstr("\nwhole   SGLang  cutlass_mla        yes\n"));
  EXPECT_THAT(table, HasSubstr("\npadded  SGLang  triton             yes\n"));
}

TEST(EngineSupport, is_the_same_as_json) {
  const Json json = Json::parse(answer_of("", true));
  EXPECT_EQ(json["arch"], "sm90");
  const Json& first = json["answers"][0];
  EXPECT_EQ(first["case"], "tree");
  EXPECT_EQ(first["backend"], "flashinfer");
  EXPECT_EQ(first["supported"], true);
  EXPECT_EQ(first["by_default"], true);
  EXPECT_EQ(json["answers"][1]["reason"], "topk 2 over pages of 1 only, not 16");
}

}  // namespace
}  // namespace attnbench
