// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/sha256.h"
#include "lib/scenario/testing/cases.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;

constexpr const char* kServingMixes = R"(
scenario: serving-mixes
seed: 7
defaults:
  model: llama-3.1-8b
  tp: 1
  dtype: bf16
  kv_cache: {page_size: 16, layout: NHD, dtype: bf16, placement: shuffled}
prefixes:
  system: 2k
mixes:
  prefix_hits:
    batch:
      - {name: chat, count: 24, mode: decode, prefix: system, kv_len: {quantiles: azure-conv-2023, min: 2k, max: 8k}}
      - {name: new,  count: 2,  mode: extend, prefix: system, q_len: 300}
  chunked_prefill:
    batch:
      - {name: long,  count: 1,  mode: extend, prompt_len: 16k, chunk: {size: 2k, index: 3}}
      - {name: decode, count: 32, mode: decode, kv_len: {lognormal: {median: 1200, sigma: 0.9}, max: 8k}}
  spec_tree:
    batch:
      - {count: 8, mode: target_verify, prefix_len: {uniform: [500, 4k]}, tree: {topk: 4, depth: 4, tokens: 16}}
  sliding_window:
    model: gemma-3-12b
    attention: {window: {keys_before: 1023}}
    batch: 16q1s8k
  mla:
    model: deepseek-v3
    tp: 8
    kv_cache: {page_size: 64}
    batch: [{count: 64, mode: decode, kv_len: 4k}]
sweep:
  grid: {kv_cache.page_size: [1, 16, 64]}
measure: {cache: [cold, warm, serving], launch: [eager, graph], precision: 0.5%}
verify:  {rows: 4096}
backends: [splitkv, paged_fa, torch_native]
)";

std::map<std::string, Case> by_id(const Scenario& scenario) {
  std::map<std::string, Case> cases;
  for (const Case& c : scenario.cases) cases[c.id] = c;
  return cases;
}

std::vector<std::int64_t> kv_lens(const Case& c) {
  std::vector<std::int64_t> lengths;
  for (const Request& request : c.requests) lengths.push_back(request.kv_len);
  return lengths;
}

TEST(Scenario, may_end_in_a_carriage_return) {
  const std::string text =
      "defaults: {model: {heads_q: 1, heads_kv: 1, head_dim: 64}}\r\nmixes: {a: {batch: 1q1s4}}\r";
  EXPECT_EQ(parse_scenario(text, "mac.yaml").cases.size(), 1u);
}

TEST(Scenario, hashes_each_config_that_it_names_once) {
  const std::string folder = ::testing::TempDir() + "/configs_of_a_scenario";
  std::filesystem::create_directories(folder);
  const std::string config =
      R"({"model_type": "llama", "hidden_size": 512, "num_attention_heads": 8,)"
      R"( "num_key_value_heads": 2, "num_hidden_layers": 2})";
  std::ofstream(folder + "/config.json") << config;
  const Scenario scenario = parse_scenario(R"(
defaults: {model: &m {hf_config: config.json}}
mixes: {a: {batch: 1q1s4}, b: {model: *m, batch: 1q1s4}, c: {model: qwen3-8b, batch: 1q1s4}}
)",
                                           folder + "/s.yaml");
  EXPECT_THAT(scenario.configs, ElementsAreArray({InputFile{"config.json", sha256_hex(config)}}));
}

TEST(Scenario, takes_variants_of_backends_by_name) {
  const auto backends = [](const std::string& list) {
    return parse_scenario(
               "defaults: {model: llama-3.1-8b}\nmixes: {m: {batch: 1q1s64}}\nbackends: " + list +
                   "\n",
               "s.yaml")
        .backends;
  };
  EXPECT_THAT(backends("[splitkv, splitkv:dynamic]"),
              ElementsAreArray({"splitkv", "splitkv:dynamic"}));
  EXPECT_THAT(backends("splitkv:fixed_tile"), ElementsAreArray({"splitkv:fixed_tile"}));
  EXPECT_THAT(backends("['sglang:decode:splits=*', a+b]"),
              ElementsAreArray({"sglang:decode:splits=*", "a+b"}));
  EXPECT_THAT(backends("['v33/*', 'vllm-0.22/vllm:fa?', 'vllm:*']"),
              ElementsAreArray({"v33/*", "vllm-0.22/vllm:fa?", "vllm:*"}));
  for (const char* wrong :
       {"'splitkv:'", "':dynamic'", "'splitkv:dyn amic'", "'a::c'", "'*'", "'v33/'", "'v33/a b'"}) {
    EXPECT_THROW(backends(wrong), ConfigError) << wrong;
  }
}

TEST(Scenario, names_environments_with_interpreters_from_its_folder) {
  const auto python = [](const std::string& map) {
    return parse_scenario("defaults: {model: llama-3.1-8b}\nmixes: {m: {batch: 1q1s64}}\npython: " +
                              map + "\n",
                          "/there/s.yaml")
        .python;
  };
  EXPECT_THAT(python("{v33: ../envs/new/bin/python, v22: /old/bin/python, own: python3}"),
              ElementsAreArray({PythonEnvironment{"v33", "/envs/new/bin/python"},
                                {"v22", "/old/bin/python"},
                                {"own", "python3"}}));
  for (const char* wrong :
       {"python3", "[python3]", "{}", "{a b: python3}", "{a: {}}", "{a: python3, a: python3}"}) {
    EXPECT_THROW(static_cast<void>(python(wrong)), ConfigError) << wrong;
  }
}

TEST(Scenario, makes_a_pair_of_the_backends_of_hybrid) {
  const auto backends = [](const std::string& lines) {
    return parse_scenario(
               "defaults: {model: llama-3.1-8b}\nmixes: {m: {batch: 1q1s64}}\n" + lines + "\n",
               "s.yaml")
        .backends;
  };
  EXPECT_THAT(backends("hybrid: {prefill: a, decode: 'b:c'}"),
              ElementsAreArray({"a", "b:c", "a+b:c"}));
  EXPECT_THAT(backends("hybrid: {prefill: a, decode: a}"), ElementsAreArray({"a", "a+a"}));
  EXPECT_THAT(backends("hybrid: {prefill: a, decode: b, speculative_attention_mode: decode}\n"
                       "backends: [c]"),
              ElementsAreArray({"c", "a+b:speculative_attention_mode=decode"}));
  for (const char* wrong : {"hybrid: a", "hybrid: {prefill: a}", "hybrid: {prefill: a, decod: b}",
                            "hybrid: {prefill: a, decode: b, speculative_attention_mode: both}"}) {
    EXPECT_THROW(static_cast<void>(backends(wrong)), ConfigError) << wrong;
  }
}

TEST(Scenario, takes_plug_in_files_from_its_own_folder_and_more_than_once) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: llama-3.1-8b}\nmixes: {m: {batch: 1q1s64}}\n"
      "backends: [splitkv, mine.so, ./mine.so, ../theirs/mine.py, /opt/any, mine.so]\n",
      "/data/tests/s.yaml");
  EXPECT_THAT(scenario.backends,
              ElementsAreArray({"splitkv", "/data/tests/mine.so", "/data/tests/mine.so",
                                "/data/theirs/mine.py", "/opt/any", "/data/tests/mine.so"}));
  ASSERT_EQ(scenario.backend_places.size(), scenario.backends.size());
  EXPECT_EQ(scenario.backend_places[3].line, 3);
  EXPECT_EQ(scenario.backend_places[3].column, 41);
}

TEST(Scenario, says_what_a_window_counts_in_draft_trees) {
  const auto rule = [](const std::string& window) {
    return only_case("attention: {window: {" + window +
                     "}}, batch: [{mode: target_verify, prefix_len: 8k, tree: {chain: 2}}]")
        .layer.window_in_trees;
  };
  EXPECT_EQ(rule("keys: 64"), WindowInTrees::kIndex);
  EXPECT_EQ(rule("keys: 64, in_trees: index"), WindowInTrees::kIndex);
  EXPECT_EQ(rule("keys: 64, in_trees: depth"), WindowInTrees::kDepth);
}

TEST(Scenario, accepts_a_window_without_causality) {
  const Case c = only_case("attention: {window: {keys: 64}, causal: false}, batch: q64s64");
  EXPECT_FALSE(c.layer.causal);
  EXPECT_EQ(c.layer.sliding_window_size, 63);
}

TEST(Scenario, accepts_the_trees_of_sglangs_documents) {
  for (const auto& [tree, tokens] :
       {std::pair{"topk: 4, depth: 3, tokens: 16", 16}, {"topk: 8, depth: 5, tokens: 64", 64}}) {
    const Case c = only_case("batch: [{mode: target_verify, prefix_len: 500, tree: {" +
                             std::string(tree) + "}}]");
    EXPECT_EQ(c.requests.at(0).tree_parents.size(), static_cast<std::size_t>(tokens));
  }
}

TEST(Scenario, expands_the_serving_mixes) {
  const Scenario scenario = parse_scenario(kServingMixes, "serving.yaml");
  EXPECT_EQ(scenario.name, "serving-mixes");
  EXPECT_EQ(scenario.seed, 7u);
  EXPECT_THAT(scenario.backends, ElementsAreArray({"splitkv", "paged_fa", "torch_native"}));
  EXPECT_THAT(scenario.measure.cache,
              ElementsAreArray({CacheState::kCold, CacheState::kWarm, CacheState::kServing}));
  EXPECT_THAT(scenario.measure.launch, ElementsAreArray({LaunchMode::kEager, LaunchMode::kGraph}));
  EXPECT_DOUBLE_EQ(scenario.measure.precision, 0.005);
  EXPECT_EQ(scenario.verify.rows, 4096);
  ASSERT_EQ(scenario.cases.size(), 15u);
  EXPECT_EQ(scenario.cases[1].id, "prefix_hits/ps16");
  EXPECT_EQ(scenario.cases[14].id, "mla/ps64");
}

TEST(Scenario, has_prefixes_that_extend_each_other_in_any_order) {
  const Scenario scenario = parse_scenario(R"(
defaults: {model: llama-3.1-8b, kv_cache: {page_size: 64}}
prefixes:
  agent: {after: tools, tokens: 500}
  plain: {tokens: 77, after: system}
  system: {tokens: 2k}
  tools: {after: system, tokens: 1k}
  unused: {after: plain, tokens: 1}
mixes:
  tree:
    batch:
      - {mode: extend, prefix: agent, q_len: 3}
      - {mode: decode, prefix: plain, kv_len: 3k}
      - {mode: decode, prefix: tools, kv_len: {uniform: [1, 9]}}
)",
                                           "s.yaml");
  const Case& c = scenario.cases.at(0);
  using Written = std::tuple<std::string, std::int64_t, int>;
  std::vector<Written> prefixes;
  for (const SharedPrefix& p : c.prefixes) prefixes.emplace_back(p.name, p.length, p.parent);
  EXPECT_EQ(prefixes,
            (std::vector<Written>{
                {"system", 2048, -1}, {"tools", 3072, 0}, {"agent", 3572, 1}, {"plain", 2125, 0}}));
  ASSERT_EQ(c.requests.size(), 3u);
  EXPECT_EQ(c.requests[0].shared_prefix, 2);
  EXPECT_EQ(c.requests[0].shared_len, 3572);
  EXPECT_EQ(c.requests[0].q_len, 3 + 3572 % 64) << "what lies in no whole page is computed again";
  EXPECT_EQ(c.requests[0].kv_len, 3575);
  EXPECT_EQ(c.requests[1].shared_prefix, 3);
  EXPECT_EQ(c.requests[2].kv_len, 3073) << "at least the prefix and a token of its own";
}

TEST(Scenario, leaves_new_tokens_behind_a_prefix_as_they_are_where_both_lengths_are_stated) {
  const Scenario scenario = parse_scenario(R"(
defaults: {model: llama-3.1-8b, kv_cache: {page_size: 16}}
prefixes: {system: 100}
mixes:
  m:
    batch:
      - {mode: extend, prefix: system, q_len: 10, kv_len: [110, 111], count: 2}
      - {mode: extend, prefix: system, q_len: 10, prefix_len: 100}
      - {mode: extend, prefix: system, q_len: 10}
)",
                                           "test.yaml");
  const Case& c = scenario.cases.at(0);
  EXPECT_EQ(c.requests[0].q_len, 10) << "the rest of the prefix lies in its own page already";
  EXPECT_EQ(c.requests[1].q_len, 10);
  EXPECT_EQ(c.requests[2].q_len, 10);
  EXPECT_EQ(c.requests[3].q_len, 14);
}

TEST(Scenario, lets_decoders_share_the_output_of_an_encoder) {
  const Scenario scenario = parse_scenario(R"(
defaults: {model: {heads_q: 4, heads_kv: 4, head_dim: 64}, attention: {cross: true}}
prefixes: {audio: 1500}
mixes:
  beams:
    batch:
      - {mode: decode, count: 5, prefix: audio}
      - {mode: extend, prefix: audio, q_len: 7}
      - {mode: decode, prefix: audio, kv_len: 1600}
      - {mode: decode, kv_len: 3}
    sweep: {grid: {kv_cache.page_size: [16]}}
)",
                                           "s.yaml");
  const Case& c = scenario.cases.at(0);
  ASSERT_EQ(c.requests.size(), 8u);
  for (std::size_t r = 0; r < 7; ++r) {
    EXPECT_EQ(c.requests[r].shared_prefix, 0);
    EXPECT_EQ(c.requests[r].shared_len, 1500);
    EXPECT_EQ(c.requests[r].kv_len, r == 6 ? 1600 : 1500)
        << "no token of a decoder's is among them";
    EXPECT_EQ(c.requests[r].q_len, r == 5 ? 7 : 1) << "an encoder's keys are computed already";
  }
  EXPECT_EQ(c.requests[7].shared_prefix, -1);
}

TEST(Scenario, mixes_decodes_and_extends_that_share_a_prefix) {
  const Case c = by_id(parse_scenario(kServingMixes, "s.yaml")).at("prefix_hits/ps16");
  EXPECT_EQ(c.mode, ForwardMode::kMixed);
  ASSERT_EQ(c.prefixes.size(), 1u);
  EXPECT_EQ(c.prefixes[0].length, 2048);
  ASSERT_EQ(c.requests.size(), 26u);
  for (const Request& request : c.requests) {
    EXPECT_EQ(request.shared_prefix, 0);
    EXPECT_EQ(request.shared_len, 2048);
    EXPECT_GE(request.kv_len, 2048 + request.q_len);
    EXPECT_LE(request.kv_len, 8192);
  }
  EXPECT_EQ(c.requests[25].group, "new");
  EXPECT_EQ(c.requests[25].q_len, 300);
  EXPECT_EQ(c.requests[25].kv_len, 2348);
}

TEST(Scenario, cuts_chunk_three_out_of_a_prompt) {
  const Case c = by_id(parse_scenario(kServingMixes, "s.yaml")).at("chunked_prefill/ps16");
  EXPECT_EQ(c.requests[0].q_len, 2048);
  EXPECT_EQ(c.requests[0].prefix_len(), 3 * 2048);
}

TEST(Scenario, scores_items_over_latent_rows_in_both_forms) {
  for (const char* form : {"absorbed", "expanded"}) {
    const Case c = only_case(std::string("model: deepseek-v3, mla: ") + form +
                             ", batch: [{mode: extend, q_len: 30, prefix_len: 9, items: [3, 2]}]");
    EXPECT_EQ(c.requests[0].items.size(), 2u) << form;
  }
}

TEST(Scenario, takes_lengths_without_keys_where_they_are_meant) {
  const Case c = only_case(
      "batch: [{mode: decode, kv_len: [0, 4], empty_rows: true}, "
      "{mode: extend, q_len: 8, kv_len: 3, empty_rows: true}]");
  EXPECT_EQ(c.requests[0].kv_len, 0);
  EXPECT_EQ(c.requests[0].new_keys(), 0);
  EXPECT_EQ(c.requests[2].prefix_len(), -5);
  EXPECT_EQ(c.requests[2].new_keys(), 3);
  const Case encoder =
      only_case("attention: {cross: true}, batch: [{mode: decode, kv_len: [0, 4]}]");
  EXPECT_EQ(encoder.requests[0].kv_len, 0);
}

TEST(Scenario, takes_padding_as_a_number_or_with_its_length) {
  const Case one = only_case("padding: 3, batch: [{mode: decode, kv_len: 4}]");
  EXPECT_EQ(one.padding.requests, 3);
  EXPECT_EQ(one.padding.seq_len, 1);
  EXPECT_EQ(one.padding_q_tokens(), 3);
  const Case zero = only_case(
      "padding: {requests: 2, seq_len: 0}, batch: [{mode: extend, q_len: 4, prefix_len: 0}]");
  EXPECT_EQ(zero.padding.seq_len, 0);
  EXPECT_EQ(zero.padding_q_tokens(), 0);
}

TEST(Scenario, takes_padding_of_tokens_alone_or_beside_that_of_requests) {
  const Case alone = only_case("padding: {tokens: 8}, batch: [{mode: decode, kv_len: 4}]");
  EXPECT_EQ(alone.padding.requests, 0);
  EXPECT_EQ(alone.padding.tokens, 8);
  EXPECT_EQ(alone.padding_q_tokens(), 8);
  EXPECT_TRUE(alone.padding.exists());
  const Case both = only_case(
      "padding: {requests: 2, seq_len: 0, tokens: 5}, batch: [{count: 3, mode: target_verify, "
      "prefix_len: 9, tree: {chain: 4}}]");
  EXPECT_EQ(both.padding.seq_len, 0);
  EXPECT_EQ(both.padding_q_tokens(), 2 * 4 + 5);
  EXPECT_EQ(both.q_tokens(), 3 * 4) << "T as it is counted has no padding";
  const Case prompt = only_case(
      "padding: {requests: 2, tokens: 5}, batch: [{mode: extend, q_len: 4, prefix_len: 0}]");
  EXPECT_EQ(prompt.padding_q_tokens(), 5);
  const Case none = only_case("padding: {tokens: 0}, batch: [{mode: decode, kv_len: 4}]");
  EXPECT_FALSE(none.padding.exists());
  const Case ragged = only_case(
      "padding: {tokens: 5}, kv_cache: {layout: ragged}, batch: [{mode: extend, q_len: 4, "
      "prefix_len: 0}]");
  EXPECT_EQ(ragged.padding_q_tokens(), 5);
}

TEST(Scenario, cuts_the_last_chunk_short) {
  const Case c =
      only_case("batch: [{mode: extend, prompt_len: 5000, chunk: {size: 2k, index: 2}}]");
  EXPECT_EQ(c.requests[0].q_len, 5000 - 4096);
  EXPECT_EQ(c.requests[0].kv_len, 5000);
}

TEST(Scenario, shards_mla_heads_and_keeps_one_latent_row) {
  const Case c = by_id(parse_scenario(kServingMixes, "s.yaml")).at("mla/ps1");
  EXPECT_EQ(c.layer.family, Family::kLatent);
  EXPECT_EQ(c.layer.heads_q, 16);
  EXPECT_EQ(c.layer.heads_kv, 1);
  EXPECT_EQ(c.layer.head_dim_qk, 576);
  EXPECT_EQ(c.tp, 8);
}

TEST(Scenario, reads_the_same_window_in_both_spellings) {
  EXPECT_EQ(only_case("attention: {window: {keys: 1024}}, batch: q1s8k").layer.sliding_window_size,
            1023);
  EXPECT_EQ(
      only_case("attention: {window: {keys_before: 1023}}, batch: q1s8k").layer.sliding_window_size,
      1023);
  EXPECT_EQ(only_case("model: mistral-7b-v0.1, attention: {window: none}, batch: q1s8k")
                .layer.sliding_window_size,
            -1);
}

TEST(Scenario, takes_a_batch_string_verbatim) {
  const Case c = only_case("batch: 2q1ks4k_32q1s2k");
  EXPECT_EQ(c.mode, ForwardMode::kMixed);
  ASSERT_EQ(c.requests.size(), 34u);
  EXPECT_EQ(c.requests[1].q_len, 1024);
  EXPECT_EQ(c.requests[1].kv_len, 4096);
  EXPECT_EQ(c.requests[33].q_len, 1);
  EXPECT_EQ(c.requests[33].kv_len, 2048);
  EXPECT_EQ(c.requests[0].group, "extend");
  EXPECT_EQ(c.requests[33].group, "decode");
}

TEST(Scenario, derives_the_third_length_from_any_two) {
  for (const char* lengths :
       {"q_len: 100, prefix_len: 300", "q_len: 100, kv_len: 400", "prefix_len: 300, kv_len: 400"}) {
    const Case c = only_case(std::string("batch: [{mode: extend, ") + lengths + "}]");
    EXPECT_EQ(c.requests[0].q_len, 100) << lengths;
    EXPECT_EQ(c.requests[0].kv_len, 400) << lengths;
  }
}

TEST(Scenario, takes_the_count_from_a_list) {
  EXPECT_THAT(kv_lens(only_case("batch: [{mode: decode, kv_len: [1k, 17, 2k]}]")),
              ElementsAreArray({1024, 17, 2048}));
}

TEST(Scenario, keeps_an_idle_rank_without_requests) {
  const Case c = only_case("batch: [{mode: idle}]");
  EXPECT_EQ(c.mode, ForwardMode::kIdle);
  EXPECT_TRUE(c.requests.empty());
}

TEST(Scenario, lets_the_encoder_be_shorter_than_the_queries_with_cross_attention) {
  const Case c =
      only_case("attention: {cross: true}, batch: [{mode: extend, q_len: 100, kv_len: 30}]");
  EXPECT_FALSE(c.layer.causal);
  EXPECT_EQ(c.requests[0].kv_len, 30);
}

TEST(Scenario, has_ragged_keys_where_they_are_asked_for) {
  const Case c = only_case("kv_cache: {layout: ragged, dtype: e4m3}, batch: q8s16");
  EXPECT_TRUE(c.kv_cache.is_ragged());
  EXPECT_EQ(c.kv_cache.page_size, 1);
  EXPECT_EQ(c.kv_cache.placement, Placement::kContiguous);
  EXPECT_FALSE(only_case("batch: q8s16").kv_cache.layout);
}

TEST(Scenario, expands_mla_into_ragged_keys_unless_a_pool_is_asked_for) {
  const auto layout_of = [](const std::string& cache) {
    return only_case("model: deepseek-v3, mla: expanded, " + cache + "batch: q8s16")
        .kv_cache.layout;
  };
  EXPECT_EQ(layout_of(""), KvLayout::kRagged);
  EXPECT_EQ(layout_of("kv_cache: {dtype: e4m3, k_scale: 0.5}, "), KvLayout::kRagged);
  EXPECT_EQ(layout_of("kv_cache: {page_size: 16}, "), std::nullopt);
  EXPECT_EQ(layout_of("kv_cache: {placement: reversed}, "), std::nullopt);
  EXPECT_EQ(layout_of("kv_cache: {dtype: e4m3, scales: head}, "), std::nullopt);
  EXPECT_EQ(layout_of("kv_cache: {layout: HND}, "), KvLayout::kHnd);
  const Case c = only_case("model: deepseek-v3, tp: 4, mla: expanded, batch: q8s16");
  EXPECT_EQ(c.layer.heads_kv, 32);
  EXPECT_EQ(c.layer.head_dim_qk, 192);
  EXPECT_EQ(only_case("model: deepseek-v3, mla: absorbed, batch: q8s16").layer.head_dim_qk, 576);
}

TEST(Scenario, expands_the_layers_of_a_whole_step) {
  const Scenario scenario = parse_scenario(R"(
defaults: {model: deepseek-v3, layers: all, mla: expanded}
mixes: {m: {batch: q8s16}}
)",
                                           "s.yaml");
  ASSERT_EQ(scenario.cases.size(), 1u);
  EXPECT_EQ(scenario.cases[0].layer.heads_kv, 128);
}

TEST(Scenario, stores_queries_and_outputs_in_fp8_where_it_is_told) {
  const Case plain = only_case("dtype: f16, batch: q1s8");
  EXPECT_EQ(plain.q_dtype(), DType::kF16);
  EXPECT_EQ(plain.out_dtype(), DType::kF16);
  const Case c = only_case(
      "attention: {q_dtype: e4m3, q_scale: 0.5, out_dtype: e5m2, out_scale: 2}, batch: q1s8");
  EXPECT_EQ(c.q_dtype(), DType::kE4M3);
  EXPECT_EQ(c.q_scale, 0.5f);
  EXPECT_EQ(c.out_dtype(), DType::kE5M2);
  EXPECT_EQ(c.out_scale, 2);
  EXPECT_EQ(c.dtype, DType::kBF16) << "of new keys and values";
  const Case by_request = only_case(
      "attention: {q_dtype: e4m3, q_scales: request}, kv_cache: {dtype: e4m3, scales: request}, "
      "batch: 2q1s8");
  EXPECT_EQ(by_request.fp8.q_scales, QScales::kRequest);
  EXPECT_EQ(by_request.kv_cache.scales, KvScales::kRequest);
  const auto q_scales = [](const std::string& word) {
    return only_case("attention: {q_dtype: e5m2, q_scales: " + word + "}, batch: q1s8")
        .fp8.q_scales;
  };
  for (const QScales scales : {QScales::kTensor, QScales::kHead, QScales::kToken}) {
    EXPECT_EQ(q_scales(std::string(to_string(scales))), scales);
  }
}

TEST(Scenario, lets_a_mix_override_defaults_key_by_key) {
  const Case c = parse_scenario(R"(
defaults: {model: llama-3.1-8b, kv_cache: {page_size: 16, layout: HND}, attention: {softcap: 30}}
mixes:
  m: {kv_cache: {page_size: 64}, attention: {softcap: none}, batch: q1s8}
)",
                                "s.yaml")
                     .cases.at(0);
  EXPECT_EQ(c.kv_cache.page_size, 64);
  EXPECT_EQ(c.kv_cache.layout, KvLayout::kHnd);
  EXPECT_EQ(c.layer.logit_cap, 0);
}

TEST(Scenario, takes_a_pool_that_holds_the_batch_and_none_of_a_page_less) {
  const std::string mix = "model: llama-3.1-8b, batch: 5q1s32, kv_cache: {page_size: 16, ";
  EXPECT_EQ(only_case(mix + "pool_tokens: 160}").kv_cache.pool_tokens, 160);
  EXPECT_THROW(static_cast<void>(only_case(mix + "pool_tokens: 144}")), ConfigError);
}

TEST(Scenario, lets_a_mix_take_back_what_defaults_say) {
  const Scenario scenario = parse_scenario(R"(
defaults:
  model: qwen3-next-80b-a3b
  kv_cache: {page_size: 16, pool_tokens: 4k, dtype: e4m3, k_scale: 0.5}
  attention: {scale: 0.25, window: {keys: 8}}
mixes:
  ragged:
    kv_cache: {page_size: none, pool_tokens: none, layout: ragged, dtype: none, k_scale: none}
    attention: {scale: none}
    batch: q1s8
  linear: {layer: linear, kv_cache: none, attention: none, batch: q1s8}
  swept: {batch: q1s8, kv_cache: {pool_tokens: none}, sweep: {grid: {kv_cache.page_size: [none, 4]}}}
)",
                                           "s.yaml");
  const Case& ragged = scenario.cases.at(0);
  EXPECT_TRUE(ragged.kv_cache.is_ragged());
  EXPECT_EQ(ragged.kv_cache.dtype, DType::kBF16);
  EXPECT_EQ(ragged.kv_cache.k_scale, 1);
  EXPECT_DOUBLE_EQ(ragged.layer.scale, 1.0 / 16);
  EXPECT_EQ(ragged.layer.sliding_window_size, 7) << "what is not taken back stays";
  EXPECT_TRUE(scenario.cases.at(1).layer.is_recurrent());
  EXPECT_EQ(scenario.cases.at(2).kv_cache.page_size, 1);
  EXPECT_EQ(scenario.cases.at(3).kv_cache.page_size, 4);
}

TEST(Scenario, resolves_anchors_and_merges_with_local_keys_first) {
  const Scenario scenario = parse_scenario(R"(
x-decode: &decode {count: 8, mode: decode, kv_len: 4k}
x-short: &short {kv_len: 1k, q_len: 1}
defaults: {model: llama-3.1-8b}
mixes:
  local:  {batch: [{<<: *decode, count: 3}]}
  first:  {batch: [{<<: [*short, *decode]}]}
  alias:  {batch: [*decode, *decode]}
)",
                                           "s.yaml");
  EXPECT_THAT(kv_lens(scenario.cases[0]), ElementsAreArray({4096, 4096, 4096}));
  EXPECT_EQ(scenario.cases[1].requests.size(), 8u);
  EXPECT_EQ(scenario.cases[1].requests[0].kv_len, 1024);
  EXPECT_EQ(scenario.cases[2].requests.size(), 16u);
  EXPECT_EQ(scenario.cases[2].requests[15].group, "decode2");
}

TEST(Scenario, draws_the_same_lengths_in_every_case_of_a_page_size_sweep) {
  const auto cases = by_id(parse_scenario(kServingMixes, "s.yaml"));
  EXPECT_EQ(kv_lens(cases.at("chunked_prefill/ps1")), kv_lens(cases.at("chunked_prefill/ps64")));
  EXPECT_EQ(cases.at("chunked_prefill/ps1").seed, cases.at("chunked_prefill/ps64").seed);
}

TEST(Scenario, keeps_a_mix_as_it_is_when_another_is_added_before_it) {
  std::string longer = kServingMixes;
  longer.replace(longer.find("mixes:\n"), 7, "mixes:\n  extra: {batch: 4q1s1k}\n");
  const auto before = by_id(parse_scenario(kServingMixes, "s.yaml"));
  const auto after = by_id(parse_scenario(longer, "s.yaml"));
  ASSERT_EQ(after.size(), before.size() + 3);
  for (const auto& [id, c] : before) {
    EXPECT_EQ(after.at(id).seed, c.seed) << id;
    EXPECT_EQ(kv_lens(after.at(id)), kv_lens(c)) << id;
  }
}

TEST(Scenario, draws_other_lengths_from_another_seed_and_in_another_mix) {
  const auto text = [](const char* seed) {
    return std::string("defaults: {model: llama-3.1-8b}\nseed: ") + seed +
           "\nmixes:\n"
           "  a: {batch: [{count: 8, mode: decode, kv_len: {uniform: [1, 1m]}}]}\n"
           "  b: {batch: [{count: 8, mode: decode, kv_len: {uniform: [1, 1m]}}]}\n";
  };
  const Scenario one = parse_scenario(text("1"), "s.yaml"),
                 two = parse_scenario(text("2"), "s.yaml");
  EXPECT_NE(kv_lens(one.cases[0]), kv_lens(two.cases[0]));
  EXPECT_NE(kv_lens(one.cases[0]), kv_lens(one.cases[1]));
  EXPECT_EQ(kv_lens(one.cases[0]), kv_lens(parse_scenario(text("1"), "t.yaml").cases[0]));
}

TEST(Scenario, is_named_after_its_file_and_hashed_as_it_is) {
  const std::string text = "mixes: {m: {model: llama-3.1-8b, batch: q1s8}}\n";
  const Scenario scenario = parse_scenario(text, "some/folder/night-run.yaml");
  EXPECT_EQ(scenario.name, "night-run");
  EXPECT_EQ(scenario.sha256, sha256_hex(text));
  EXPECT_THAT(case_ids(scenario), ElementsAreArray({"m"}));
}

TEST(Scenario, reads_how_to_measure_and_verify) {
  const Scenario scenario = parse_scenario(
      "mixes: {m: {model: llama-3.1-8b, batch: q1s8}}\n"
      "measure: {cache: warm, precision: 0.01, rounds: [3, 9], samples: [2, 50], block: 500us, "
      "timeout: 2min}\n"
      "verify: {enabled: false, fills: [tag, needle], at_most: f16}\n",
      "s.yaml");
  EXPECT_THAT(scenario.measure.cache, ElementsAreArray({CacheState::kWarm}));
  EXPECT_DOUBLE_EQ(scenario.measure.precision, 0.01);
  EXPECT_EQ(scenario.measure.min_rounds, 3);
  EXPECT_EQ(scenario.measure.max_rounds, 9);
  EXPECT_EQ(scenario.measure.min_block_samples, 2);
  EXPECT_EQ(scenario.measure.max_block_samples, 50);
  EXPECT_DOUBLE_EQ(scenario.measure.block_s, 500e-6);
  EXPECT_DOUBLE_EQ(scenario.measure.cell_timeout_s, 120);
  EXPECT_FALSE(scenario.verify.enabled);
  EXPECT_EQ(scenario.verify.at_most, DType::kF16);
  EXPECT_THAT(scenario.verify.fills, ElementsAreArray({Fill::kTag, Fill::kNeedle}));
}

TEST(Scenario, reads_a_file_of_windows_line_ends) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: llama-3.1-8b}\r\nmixes:\r\n  m: {batch: 8q1s4k}\r\n", "s.yaml");
  EXPECT_EQ(scenario.cases.size(), 1u);
}

}  // namespace
}  // namespace attnbench
