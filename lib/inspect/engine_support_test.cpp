// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/engine_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>

#include "lib/view/json.h"

namespace attnbench {
namespace {

using testing::ContainsRegex;
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

std::string answer_of(const Scenario& scenario, std::string_view device, bool json = false) {
  EngineSupportQuestion question{scenario, {}, *find_engine_device(device)};
  for (const Case& c : scenario.cases) question.cases.push_back(&c);
  std::ostringstream out;
  (json ? write_engine_support_json : write_engine_support_table)(question, out);
  return out.str();
}

std::string answer_of(const std::string& measure, bool json = false) {
  return answer_of(parse_scenario(kMixes + measure, "engines.yaml"), "sm90", json);
}

TEST(EngineSupport, says_which_configuration_falls_back_and_why) {
  const std::string table = answer_of("");
  EXPECT_THAT(table, HasSubstr("engines on sm90 · SGLang 0.5.23, vLLM 0.33.0\ncase    engine  "
                               "backend            takes it\n"));
  EXPECT_THAT(table, HasSubstr("\ntree    SGLang  flashinfer         yes (taken by default)\n"));
  EXPECT_THAT(table, HasSubstr("\ntree    vLLM    FLASH_ATTN         no: drafts with topk 1 "
                               "only, not 2 (taken by default)\n"));
  EXPECT_THAT(table,
              HasSubstr("\nlatent  SGLang  flashmla           no: pages of 64 only, not 32\n"));
  EXPECT_THAT(table, HasSubstr("\nlatent  SGLang  fa3                no: no fp8 cache (taken by "
                               "default)\n"));
  EXPECT_THAT(table, HasSubstr("\nlatent  vLLM    FLASHMLA           no: pages of 64 or multiples, "
                               "not 32\n"));
  EXPECT_THAT(table, HasSubstr("\nlatent  vLLM    TRITON_MLA         yes (taken by default)\n"));
  EXPECT_THAT(table, Not(HasSubstr("latent  vLLM    FLASH_ATTN ")));
  EXPECT_THAT(table, HasSubstr("\nlinear  SGLang  triton             yes (taken by default)\n"));
  EXPECT_THAT(table, HasSubstr("\nlinear  vLLM    GDN_ATTN           yes (taken by default)\n"));
  EXPECT_THAT(table, Not(HasSubstr("linear  SGLang  fa3")));
}

TEST(EngineSupport, counts_graphs_where_the_scenario_asks_for_them) {
  EXPECT_THAT(answer_of(""), Not(HasSubstr("CUDA graph")));
  EXPECT_THAT(answer_of("measure: {launch: [eager, graph]}\n"),
              HasSubstr("\ntree    SGLang  torch_native       no: no speculative decoding\n"));
  const Scenario prompts = parse_scenario(
      "mixes:\n  p: {model: llama-3.1-8b, kv_cache: {page_size: 16}, batch: q64}\n"
      "  d: {model: llama-3.1-8b, kv_cache: {page_size: 16}, batch: [{mode: draft_extend_v2, "
      "q_len: 4, prefix_len: 60}]}\nmeasure: {launch: [graph]}\n",
      "graphs.yaml");
  const std::string table = answer_of(prompts, "sm90");
  EXPECT_THAT(table, HasSubstr("p     vLLM    FLASHINFER         yes, but no CUDA graph of such "
                               "a step: it needs ALWAYS, FLASHINFER claims "
                               "UNIFORM_BATCH\n"));
  EXPECT_THAT(table, HasSubstr("d     SGLang  flashinfer         yes\n"));
  EXPECT_THAT(table, HasSubstr("d     SGLang  fa3                yes, but no CUDA graph of "
                               "draft_extend_v2 steps (taken by default)\n"));
}

TEST(EngineSupport, is_of_the_model_that_a_layer_is_one_of) {
  const Scenario scenario = parse_scenario(
      "mixes:\n  a: {model: llama-4-scout, layers: all, batch: [{mode: decode, kv_len: 64}]}\n",
      "s.yaml");
  const std::string table = answer_of(scenario, "sm80");
  for (const char* layer : {"a/full   ", "a/chunked"}) {
    EXPECT_THAT(table, HasSubstr(std::string(layer) + "  SGLang  flashinfer         no: no "
                                                      "chunks\n"));
    EXPECT_THAT(table, HasSubstr(std::string(layer) + "  SGLang  triton             no: no "
                                                      "chunks (taken by default)\n"));
  }
}

TEST(EngineSupport, counts_determinism_where_the_scenario_requires_it) {
  EXPECT_THAT(answer_of("verify: {batch_invariant: required}\n"),
              HasSubstr("\ntree    vLLM    FLASHINFER         no: no deterministic inference\n"));
}

TEST(EngineSupport, has_vision_towers_backends_beside_the_others) {
  const Scenario scenario = parse_scenario(
      "mixes:\n  v: {model: {heads_q: 16, heads_kv: 16, head_dim: 64}, attention: {causal: false},"
      " kv_cache: {layout: ragged}, batch: q64}\n",
      "s.yaml");
  const std::string table = answer_of(scenario, "sm90");
  EXPECT_THAT(table, HasSubstr("v     SGLang  fa3 (vision)          yes (taken by default)\n"));
  EXPECT_THAT(table, HasSubstr("v     vLLM    FLASH_ATTN (vision)   yes (taken by default)\n"));
  EXPECT_THAT(table, HasSubstr("v     vLLM    FLASH_ATTN            yes (taken by default)\n"));
  EXPECT_THAT(table, HasSubstr("v     vLLM    FLASHINFER            no: no attention ahead without "
                               "a cache\n"));
  const Json json = Json::parse(answer_of(scenario, "sm90", true));
  const auto vision = std::ranges::find_if(json["answers"], [](const Json& row) {
    return row["backend"] == "fa3" && row["of_vision"] == true;
  });
  ASSERT_NE(vision, json["answers"].end());
  EXPECT_EQ((*vision)["supported"], true);
}

TEST(EngineSupport, does_not_say_yes_to_what_it_does_not_know) {
  const Scenario scenario = parse_scenario(
      "mixes:\n  s: {model: gpt-oss-20b, kv_cache: {page_size: 16}, batch: [{mode: decode, kv_len: "
      "64}]}\n",
      "s.yaml");
  EXPECT_THAT(answer_of(scenario, "gfx942"), HasSubstr("SGLang  wave     no: no sliding window\n"));
  const Scenario sinks = parse_scenario(
      "mixes:\n  s: {model: llama-3.1-8b, attention: {sinks: true}, batch: [{mode: decode, kv_len: "
      "64}]}\n",
      "s.yaml");
  EXPECT_THAT(answer_of(sinks, "gfx942"),
              HasSubstr("SGLang  aiter    unknown: sinks (taken by default)\n"));
  const Json json = Json::parse(answer_of(sinks, "gfx942", true));
  EXPECT_EQ(json["answers"][0]["supported"], false);
  EXPECT_EQ(json["answers"][0]["unknown"], "sinks");
}

TEST(EngineSupport, names_heads_that_an_engine_pads) {
  const std::string more =
      "  padded: {model: deepseek-v3, tp: 8, kv_cache: {page_size: 128}, batch: 2q1s64}\n"
      "  whole: {model: deepseek-v3, kv_cache: {page_size: 128}, batch: 2q1s64}\n";
  const std::string table = answer_of(parse_scenario(kMixes + more, "engines.yaml"), "sm100");
  EXPECT_THAT(table, ContainsRegex("\npadded +vLLM +CUTLASS_MLA +yes, 16 query heads padded to "
                                   "128\n"));
  EXPECT_THAT(table, ContainsRegex("\nwhole +vLLM +CUTLASS_MLA +yes\n"));
}

TEST(EngineSupport, is_the_same_as_json) {
  const Json json = Json::parse(answer_of("", true));
  EXPECT_EQ(json["arch"], "sm90");
  const Json& first = json["answers"][0];
  EXPECT_EQ(first["case"], "tree");
  EXPECT_EQ(first["backend"], "flashinfer");
  EXPECT_EQ(first["supported"], true);
  EXPECT_EQ(first["by_default"], true);
  EXPECT_EQ(json["answers"][3]["backend"], "trtllm_mha");
  EXPECT_EQ(json["answers"][3]["reason"], "drafts with topk 1 only, not 2");
  EXPECT_EQ(json["answers"].back()["backend"], "LINEAR_ATTN");
}

TEST(EngineSupport, names_the_choice_of_which_it_has_no_list_and_asks_for_the_whole_model) {
  const std::string glm = R"(
mixes: {m: {model: glm-5, layer: full, tp: 8, kv_cache: {page_size: 64, dtype: e4m3, scales: block},
            batch: [{mode: decode, kv_len: 64}]}}
)";
  const std::string table = answer_of(parse_scenario(glm, "engines.yaml"), "sm90");
  EXPECT_THAT(table, ContainsRegex("SGLang  dsa +yes \\(taken by default\\)"));
  EXPECT_THAT(table, ContainsRegex("vLLM    FLASHMLA_SPARSE +yes \\(taken by default\\)"));
  EXPECT_THAT(table, Not(HasSubstr("fa3")));
  const std::string latent =
      "mixes: {m: {model: deepseek-v3, tp: 8, batch: [{mode: decode, kv_len: 64}]}}";
  const std::string amd = answer_of(parse_scenario(latent, "engines.yaml"), "gfx942");
  EXPECT_THAT(amd, ContainsRegex("SGLang  aiter +yes \\(taken by default\\)"));
  EXPECT_THAT(amd, ContainsRegex("SGLang  triton +yes\n"));
  EXPECT_THAT(amd, HasSubstr("attnbench has no rule of vLLM for gfx942"));
}

}  // namespace
}  // namespace attnbench
