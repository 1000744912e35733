// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Mixes with `layers`: a case for each kind of a model's layers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "lib/scenario/layer_reader.h"
#include "lib/scenario/problem_of.h"
#include "lib/scenario/scenario.h"
#include "lib/scenario/testing/cases.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

Scenario layered(const std::string& text) { return parse_scenario(text, "layered.yaml"); }

TEST(Layers, of_all_kinds_make_a_case_each_with_its_number_of_layers) {
  const Scenario scenario = layered(
      "defaults: {model: gemma-3-27b, layers: all}\n"
      "mixes: {chat: {batch: 2q1s4k}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAreArray({"chat/full", "chat/sliding"}));
  const Case& full = scenario.cases[0];
  EXPECT_EQ(full.model_layers.kind, "full");
  EXPECT_EQ(full.model_layers.layers, 10);
  EXPECT_EQ(full.model_layers.of_step, 62);
  EXPECT_EQ(full.model_layers.left_out, "");
  EXPECT_EQ(full.layer.sliding_window_size, -1);
  EXPECT_EQ(full.mix, "chat");
  EXPECT_EQ(full.sweep, (SweptValues{{"layer", "full"}}));
  const Case& sliding = scenario.cases[1];
  EXPECT_EQ(sliding.model_layers.layers, 52);
  EXPECT_EQ(sliding.layer.sliding_window_size, 1023);
  EXPECT_EQ(sliding.requests.size(), full.requests.size());
}

TEST(Layers, join_the_labels_of_a_sweep) {
  const Scenario scenario = layered(
      "defaults: {model: gpt-oss-20b, layers: all}\n"
      "mixes: {chat: {batch: 2q1s4k}}\n"
      "sweep: {grid: {kv_cache.page_size: [1, 16]}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAreArray({"chat/ps1,full", "chat/ps1,sliding",
                                                    "chat/ps16,full", "chat/ps16,sliding"}));
  EXPECT_EQ(scenario.cases[3].kv_cache.page_size, 16);
  EXPECT_EQ(step_id_of("chat/ps16,sliding", "sliding"), "chat/ps16");
  EXPECT_EQ(step_id_of("chat/full", "full"), "chat");
  EXPECT_EQ(step_id_of("chat", ""), "chat");
}

TEST(Layers, that_cannot_be_run_are_named_as_left_out) {
  const std::string path = testing::TempDir() + "layers_test_jamba.json";
  std::ofstream(path) << R"({"model_type": "jamba", "attn_layer_period": 8})";
  const Scenario scenario =
      layered("mixes: {chat: {model: {hf_config: " + path + "}, layers: all, batch: 2q1s4k}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAreArray({"chat/full"}));
  EXPECT_EQ(scenario.cases[0].model_layers.of_step, 4);
  EXPECT_EQ(scenario.cases[0].model_layers.left_out, "28 linear");
  EXPECT_THAT(scenario.cases[0].model_note, HasSubstr("28 linear layers are left out"));
}

TEST(Layers, of_which_some_read_the_keys_of_others_say_how_many) {
  const std::string path = testing::TempDir() + "layers_test_gemma3n.json";
  std::ofstream(path) << R"({"model_type": "gemma3n_text"})";
  const std::string model = "model: {hf_config: " + path + "}";
  const Scenario all = layered("mixes: {a: {" + model + ", layers: all, batch: q1s4k}}\n");
  EXPECT_EQ(all.cases[0].model_layers.layers, 7);
  EXPECT_EQ(all.cases[0].model_layers.kv_shared, 3);
  EXPECT_EQ(all.cases[1].model_layers.kv_shared, 12);
  const Scenario some = layered("mixes: {a: {" + model + ", layers: {full: 2}, batch: q1s4k}}\n");
  EXPECT_EQ(some.cases[0].model_layers.kv_shared, 0) << "a stage says nothing of them";
}

TEST(Layers, take_numbers_of_their_own) {
  const Scenario scenario =
      layered("mixes: {stage: {model: gpt-oss-20b, layers: {sliding: 6}, batch: 2q1s4k}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAreArray({"stage/sliding"}));
  EXPECT_EQ(scenario.cases[0].model_layers.layers, 6);
  EXPECT_EQ(scenario.cases[0].model_layers.of_step, 6);
  EXPECT_EQ(scenario.cases[0].model_layers.left_out, "12 full");
}

TEST(Layers, of_which_some_share_lists_count_a_choice_of_keys_where_it_is_made) {
  const Scenario scenario = layered(
      "mixes: {m: {model: glm-5.2, tp: 8, layers: all, batch: 4q1s3k, kv_cache: {page_size: 64}}, "
      "part: {model: glm-5.2, tp: 8, layers: {sparse: 5}, batch: 4q1s3k}}");
  const Case& all = scenario.cases.at(0);
  for (const auto& [step, layers] : {std::pair{StepPart::kAttention, 78},
                                     {StepPart::kKvWrite, 78},
                                     {StepPart::kIndexer, 21},
                                     {StepPart::kSelect, 21},
                                     {StepPart::kPipeline, 21},
                                     {StepPart::kIndexWrite, 21},
                                     {StepPart::kKvPipeline, 21},
                                     {StepPart::kLayer, 21}}) {
    EXPECT_EQ(layers_of_part(with_step(all, step)), layers) << to_string(step);
  }
  EXPECT_EQ(layers_of_part(with_step(scenario.cases.at(1), StepPart::kIndexer)), 5)
      << "which of the model's they are is not said";
}

TEST(Layers, of_a_dense_stand_in_leave_no_sparse_ones_out) {
  const Scenario scenario =
      layered("mixes: {chat: {model: deepseek-v3.2, layers: {full: 61}, batch: q1s4k}}\n");
  EXPECT_EQ(scenario.cases[0].model_layers.left_out, "");
  EXPECT_THAT(scenario.cases[0].model_note, HasSubstr("dense attention in place"));
}

TEST(Layers, that_are_linear_have_no_cache_though_the_mix_has_one) {
  const Scenario scenario = layered(
      "defaults: {model: qwen3-next-80b-a3b, layers: all, kv_cache: {page_size: 16}}\n"
      "mixes: {chat: {attention: {softcap: 30}, batch: 2q1s4k}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAreArray({"chat/full", "chat/linear"}));
  EXPECT_EQ(scenario.cases[0].kv_cache.page_size, 16);
  EXPECT_EQ(scenario.cases[0].layer.logit_cap, 30);
  EXPECT_TRUE(scenario.cases[1].layer.is_recurrent());
  EXPECT_EQ(scenario.cases[1].model_layers.layers, 36);
}

TEST(Layers, of_a_draft_s_verification_are_all_there) {
  const Scenario scenario = layered(
      "defaults: {model: qwen3-next-80b-a3b, layers: all}\n"
      "mixes: {draft: {padding: 2, batch: [{mode: target_verify, prefix_len: 4k, tree: {chain: "
      "4}}]}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAreArray({"draft/full", "draft/linear"}));
  for (const Case& c : scenario.cases) {
    EXPECT_EQ(c.mode, ForwardMode::kTargetVerify);
    EXPECT_EQ(c.padding.requests, 2);
    EXPECT_EQ(c.model_layers.of_step, 48);
  }
}

TEST(Layers, of_a_draft_tree_s_verification_have_the_same_tree_however_it_is_written) {
  for (const char* tree : {"{chain: 4}", "{parents: [-1, 0, 1, 2]}", "{parents: [-1, 0, 0, 1]}",
                           "{topk: 2, depth: 3, tokens: 6}"}) {
    const Scenario scenario = layered(
        std::string(
            "defaults: {model: qwen3-next-80b-a3b, layers: all}\n"
            "mixes: {draft: {batch: [{count: 2, mode: target_verify, prefix_len: 4k, tree: ") +
        tree + "}]}}\n");
    ASSERT_THAT(case_ids(scenario), ElementsAreArray({"draft/full", "draft/linear"}));
    const Case &full = scenario.cases[0], &linear = scenario.cases[1];
    ASSERT_TRUE(linear.layer.is_recurrent());
    for (std::size_t r = 0; r < 2; ++r) {
      EXPECT_EQ(linear.requests[r].tree_parents, full.requests[r].tree_parents) << tree;
      EXPECT_EQ(linear.requests[r].q_len, std::ssize(linear.requests[r].tree_parents)) << tree;
    }
  }
}

TEST(Layers, of_defaults_give_way_to_a_mix_of_one_layer_and_the_other_way_round) {
  EXPECT_THAT(case_ids(layered("defaults: {model: gpt-oss-20b, layers: all}\n"
                               "mixes: {one: {layer: sliding, batch: q1s4k}}\n")),
              ElementsAreArray({"one"}));
  EXPECT_THAT(case_ids(layered("defaults: {model: gpt-oss-20b, layer: full}\n"
                               "mixes: {step: {layers: all, batch: q1s4k}}\n")),
              ElementsAreArray({"step/full", "step/sliding"}));
}

TEST(Layers, keep_their_kind_along_an_axis) {
  const std::string text =
      "defaults: {model: gpt-oss-20b, layers: all}\n"
      "mixes: {chat: {batch: [{mode: decode, count: 2, kv_len: 4k}]}}\n";
  const Scenario scenario =
      parse_scenario(text, "layered.yaml", std::nullopt,
                     CaseAxis{"chat/sliding", "batch[0].kv_len", {1024, 2048}});
  ASSERT_THAT(case_ids(scenario),
              ElementsAreArray({"chat/kv_len1k,sliding", "chat/kv_len2k,sliding"}));
  EXPECT_EQ(scenario.cases[1].layer.sliding_window_size, 127);
}

// Models whose decoder has self-attention layers beside cross layers, over an encoder's keys.
constexpr const char* kSmall =
    "defaults: {model: {heads_q: 4, heads_kv: 4, head_dim: 64}, layers: {full: 2, cross: 3}, "
    "kv_cache: {page_size: 16}}\n";

Scenario with_encoders(const std::string& text) { return parse_scenario(text, "encoders.yaml"); }

/// The full and the cross case of a batch.
std::vector<Case> step_of_batch(const std::string& batch, const std::string& more = "") {
  return with_encoders(kSmall + more + "mixes: {a: {batch: " + batch + "}}\n").cases;
}

std::vector<std::int64_t> keys_read(const Case& c) {
  std::vector<std::int64_t> lens;
  for (const Request& request : c.requests) lens.push_back(request.kv_len);
  return lens;
}

std::vector<std::int64_t> queries_of(const Case& c) {
  std::vector<std::int64_t> lens;
  for (const Request& request : c.requests) lens.push_back(request.q_len);
  return lens;
}

std::vector<std::int64_t> decoders_of(const Case& c) {
  std::vector<std::int64_t> lens;
  for (const Request& request : c.requests) lens.push_back(request.decoder_len);
  return lens;
}

std::vector<bool> encoders_cached(const Case& c) {
  std::vector<bool> flags;
  for (const Request& request : c.requests) flags.push_back(request.encoder_cached);
  return flags;
}

TEST(CrossLayers, are_a_case_over_the_encoders_keys_beside_one_over_the_decoders) {
  const Scenario scenario = with_encoders(
      std::string(kSmall) +
      "mixes: {a: {batch: [{mode: decode, kv_len: [1, 30], encoder_len: [50, 9]}]}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAreArray({"a/full", "a/cross"}));
  const Case &full = scenario.cases[0], &cross = scenario.cases[1];
  EXPECT_THAT(keys_read(full), ElementsAreArray({1, 30}));
  EXPECT_TRUE(full.layer.causal);
  EXPECT_FALSE(full.layer.is_cross_attention);
  EXPECT_THAT(keys_read(cross), ElementsAreArray({50, 9}));
  EXPECT_TRUE(cross.layer.is_cross_attention);
  EXPECT_FALSE(cross.layer.causal);
  EXPECT_EQ(cross.mode, ForwardMode::kDecode);
  EXPECT_EQ(full.model_layers.layers, 2);
  EXPECT_EQ(cross.model_layers.layers, 3);
  EXPECT_EQ(cross.model_layers.of_step, 5);
  EXPECT_EQ(cross.model_note, "");
}

TEST(CrossLayers, of_a_preset_have_the_models_encoder_unless_an_entry_says_otherwise) {
  const Scenario scenario = with_encoders(
      "defaults: {model: whisper-large-v3, layers: all}\n"
      "mixes: {a: {batch: 2q1s30_1q4}, b: {batch: [{mode: decode, kv_len: 9, encoder_len: 0}]}}\n");
  ASSERT_THAT(case_ids(scenario), ElementsAreArray({"a/full", "a/cross", "b/full", "b/cross"}));
  EXPECT_THAT(keys_read(scenario.cases[1]), ElementsAreArray({1500, 1500, 1500}));
  EXPECT_THAT(queries_of(scenario.cases[1]), ElementsAreArray({1, 1, 4}));
  EXPECT_EQ(scenario.cases[1].layer.heads_q, 20);
  EXPECT_EQ(scenario.cases[1].layer.head_dim_qk, 64);
  EXPECT_EQ(scenario.cases[1].model_layers.layers, 32);
  EXPECT_THAT(keys_read(scenario.cases[3]), ElementsAreArray({0}))
      << "a request without an encoder";
}

TEST(CrossLayers, can_be_run_alone) {
  const Scenario scenario = with_encoders(
      "defaults: {layer: cross}\n"
      "mixes:\n"
      "  inline: {model: {heads_q: 4, heads_kv: 2, head_dim: 64}, batch: [{mode: decode, kv_len: "
      "3, encoder_len: 7}]}\n"
      "  preset: {model: llama-3.2-11b-vision, tp: 4, batch: 3q1s100}\n");
  EXPECT_THAT(keys_read(scenario.cases[0]), ElementsAreArray({7}));
  EXPECT_THAT(keys_read(scenario.cases[1]), ElementsAreArray({6404, 6404, 6404}));
  EXPECT_EQ(scenario.cases[1].layer.heads_q, 8);
  EXPECT_EQ(scenario.cases[1].layer.heads_kv, 2);
}

// The engine's rule is SGLang's prepare_encoder_info_extend: a decode finds the encoder's keys in
// the cache, and so does an extend that is not the prompt's first.
TEST(CrossLayers, have_a_new_encoder_where_a_prompt_begins_and_a_cached_one_elsewhere) {
  const std::vector<Case> cases = step_of_batch(
      "[{mode: extend, q_len: 33, prefix_len: 0, encoder_len: 90}, "
      "{mode: extend, q_len: 33, prefix_len: 1, encoder_len: 91}, "
      "{mode: extend, prompt_len: 100, chunk: {size: 48, index: 0}, encoder_len: 92}, "
      "{mode: extend, prompt_len: 100, chunk: {size: 48, index: 2}, encoder_len: 93}, "
      "{mode: extend, q_len: 5, prefix_len: 0, encoder_len: 0}, "
      "{mode: decode, kv_len: 1, encoder_len: 94}]");
  EXPECT_THAT(queries_of(cases[1]), ElementsAreArray({33, 33, 48, 4, 5, 1}));
  EXPECT_THAT(encoders_cached(cases[1]), ElementsAreArray({false, true, false, true, true, true}));
  EXPECT_THAT(encoders_cached(cases[0]), ElementsAreArray({true, true, true, true, true, true}));
  EXPECT_EQ(cases[1].model_layers.kv_shared, 0) << "each layer writes some encoder's keys";
  const std::vector<Case> decodes = step_of_batch("[{mode: decode, kv_len: 1, encoder_len: 94}]");
  EXPECT_EQ(decodes[1].model_layers.kv_shared, 3) << "no layer writes any";
  EXPECT_EQ(decodes[0].model_layers.kv_shared, 0);
}

TEST(CrossLayers, know_how_long_the_decoders_are) {
  const std::vector<Case> cases = step_of_batch(
      "[{mode: extend, prompt_len: 100, chunk: {size: 48, index: 1}, encoder_len: 65}, "
      "{mode: decode, kv_len: 30, encoder_len: 7}]");
  EXPECT_THAT(decoders_of(cases[1]), ElementsAreArray({96, 30}));
  EXPECT_THAT(decoders_of(cases[0]), ElementsAreArray({0, 0})) << "there kv_len says it";
  const Scenario alone = with_encoders(
      "mixes: {a: {model: {heads_q: 4, heads_kv: 4, head_dim: 64}, attention: {cross: true}, "
      "batch: [{mode: decode, kv_len: 7}]}}\n");
  EXPECT_THAT(decoders_of(alone.cases[0]), ElementsAreArray({0})) << "nothing says it";
}

TEST(CrossLayers, have_the_queries_of_the_full_layers_behind_a_shared_prefix) {
  const std::vector<Case> cases =
      step_of_batch("[{count: 2, mode: extend, prefix: system, q_len: 9, encoder_len: [64, 3]}]",
                    "prefixes: {system: 40}\n");
  EXPECT_THAT(queries_of(cases[0]), ElementsAreArray({17, 17}))
      << "8 tokens of the prefix fill no page";
  EXPECT_THAT(queries_of(cases[1]), ElementsAreArray({17, 17}));
  EXPECT_THAT(keys_read(cases[1]), ElementsAreArray({64, 3}));
  EXPECT_TRUE(cases[1].prefixes.empty()) << "encoders share nothing";
  EXPECT_EQ(cases[1].requests[0].shared_prefix, -1);
  EXPECT_EQ(cases[1].requests[0].shared_len, 0);
  EXPECT_THAT(encoders_cached(cases[1]), ElementsAreArray({true, true}));
}

TEST(CrossLayers, have_the_nodes_of_draft_trees_over_cached_encoders) {
  const std::vector<Case> cases = step_of_batch(
      "[{mode: target_verify, prefix_len: [30, 0], encoder_len: [90, 7], "
      "tree: {parents: [-1, 0, 0, 1]}}]");
  const Case &full = cases[0], &cross = cases[1];
  EXPECT_EQ(cross.mode, ForwardMode::kTargetVerify);
  EXPECT_THAT(keys_read(full), ElementsAreArray({34, 4}));
  EXPECT_THAT(keys_read(cross), ElementsAreArray({90, 7}));
  EXPECT_THAT(queries_of(cross), ElementsAreArray({4, 4}));
  EXPECT_EQ(cross.requests[0].tree_parents, full.requests[0].tree_parents);
  EXPECT_THAT(encoders_cached(cross), ElementsAreArray({true, true})) << "a draft begins no prompt";
  EXPECT_FALSE(problem_of(full).drafts_are_chains);
  EXPECT_TRUE(problem_of(cross).drafts_are_chains) << "no node is hidden from any";
}

TEST(CrossLayers, draw_lengths_of_encoders_apart_from_the_decoders) {
  const std::vector<Case> cases = step_of_batch(
      "[{count: 8, mode: decode, kv_len: {uniform: [1, 900]}, encoder_len: {uniform: [1, 900]}}]");
  const std::vector<Case> alone =
      step_of_batch("[{count: 8, mode: decode, kv_len: {uniform: [1, 900]}, encoder_len: 5}]");
  EXPECT_EQ(keys_read(cases[0]), keys_read(alone[0])) << "the decoders' do not depend on encoders";
  EXPECT_NE(keys_read(cases[0]), keys_read(cases[1]));
}

TEST(CrossLayers, are_swept_along_their_encoders_length) {
  const Scenario scenario =
      with_encoders(std::string(kSmall) +
                    "mixes: {a: {batch: [{mode: decode, kv_len: 4, encoder_len: 5}]}}\n"
                    "sweep: {grid: {\"batch[0].encoder_len\": [16, 32]}}\n");
  ASSERT_EQ(scenario.cases.size(), 4u);
  EXPECT_THAT(keys_read(scenario.cases[1]), ElementsAreArray({16}));
  EXPECT_THAT(keys_read(scenario.cases[2]), ElementsAreArray({4}));
  EXPECT_THAT(keys_read(scenario.cases[3]), ElementsAreArray({32}));
}

TEST(WithStep, of_a_cross_layer_writes_the_new_encoders_alone_as_prompts) {
  const Case cross = step_of_batch(
      "[{mode: decode, kv_len: 4, encoder_len: 20}, "
      "{mode: extend, q_len: 3, prefix_len: 0, encoder_len: [30, 7]}]")[1];
  const Case write = with_step(cross, StepPart::kKvWrite);
  EXPECT_EQ(write.step, StepPart::kKvWrite);
  EXPECT_EQ(write.id, cross.id);
  EXPECT_EQ(write.mode, ForwardMode::kExtend);
  EXPECT_FALSE(write.layer.is_cross_attention) << "its keys are those of the step's own tokens";
  EXPECT_THAT(queries_of(write), ElementsAreArray({30, 7}));
  EXPECT_THAT(keys_read(write), ElementsAreArray({30, 7}));
  EXPECT_EQ(write.requests[0].new_keys(), 30);
}

TEST(WithStep, of_a_cross_layer_is_the_case_itself_where_nothing_is_new_or_it_attends) {
  const Case cross = step_of_batch("[{mode: decode, kv_len: 4, encoder_len: 20}]")[1];
  const Case prompt =
      step_of_batch("[{mode: extend, q_len: 3, prefix_len: 0, encoder_len: 20}]")[1];
  EXPECT_TRUE(with_step(cross, StepPart::kKvWrite).layer.is_cross_attention);
  EXPECT_TRUE(with_step(prompt, StepPart::kBoth).layer.is_cross_attention);
  EXPECT_TRUE(with_step(prompt, StepPart::kAttention).layer.is_cross_attention);
  EXPECT_FALSE(with_step(prompt, StepPart::kKvWrite).layer.is_cross_attention);
}

// Which layer a case runs, and what its mask is.
TEST(Scenario, builds_a_layer_from_inline_geometry) {
  const Case c = only_case(
      "model: {heads_q: 12, heads_kv: 4, head_dim: 96, head_dim_v: 64}, tp: 2, batch: q1s8");
  EXPECT_EQ(c.model, "inline");
  EXPECT_EQ(c.layer.heads_q, 6);
  EXPECT_EQ(c.layer.heads_kv, 2);
  EXPECT_EQ(c.layer.head_dim_qk, 96);
  EXPECT_EQ(c.layer.head_dim_v, 64);
}

TEST(Scenario, scales_an_inline_mla_model_by_its_yarn) {
  const std::string mla =
      "model: {heads_q: 128, kv_lora_rank: 512, qk_nope_head_dim: 128, qk_rope_head_dim: 64";
  EXPECT_NEAR(only_case(mla + "}, batch: 4q1s300").layer.scale, 0.0721687836, 1e-10);
  EXPECT_NEAR(only_case(mla + ", rope_scaling: {type: yarn, factor: 40, mscale: 1, "
                              "mscale_all_dim: 1}}, batch: 4q1s300")
                  .layer.scale,
              0.1352337789, 1e-10);
  EXPECT_NEAR(only_case("model: deepseek-v3, batch: 4q1s300").layer.scale, 0.1352337789, 1e-10);
}

TEST(Scenario, runs_the_kind_of_layer_that_is_spelled_out) {
  const Case dense = only_case("model: deepseek-v3.2, layer: full, batch: 4q1s300");
  EXPECT_EQ(dense.layer.head_dim_qk, 576);
  EXPECT_EQ(dense.model_note.rfind("dense attention in place of the model's own", 0), 0u);
  EXPECT_EQ(
      only_case("model: gemma-3-4b, layer: sliding, batch: 4q1s300").layer.sliding_window_size,
      1023);
  EXPECT_EQ(only_case("batch: 4q1s300").model_note, "");
}

TEST(Scenario, runs_chunked_layers_of_a_model_and_of_any_other) {
  const auto chunk = [](const std::string& mix) { return only_case(mix).layer.attention_chunk; };
  EXPECT_EQ(chunk("model: llama-4-scout, layer: chunked, batch: 4q1s300"), 8192);
  EXPECT_EQ(chunk("model: llama-4-scout, layer: full, batch: 4q1s300"), 0);
  EXPECT_EQ(chunk("model: llama-4-scout, batch: 4q1s300"), 0);
  EXPECT_EQ(chunk("batch: 4q1s300"), 0);
  EXPECT_EQ(chunk("attention: {chunk: 1k}, batch: 4q1s300"), 1024);
  EXPECT_EQ(chunk("model: llama-4-scout, layer: chunked, attention: {chunk: none}, batch: q1"), 0);
  const Case both = only_case("attention: {chunk: 64, window: {keys: 16}}, batch: 4q1s300");
  EXPECT_EQ(both.layer.attention_chunk, 64);
  EXPECT_EQ(both.layer.sliding_window_size, 15);
}

TEST(Scenario, gives_layers_with_a_window_a_pool_of_their_own) {
  const auto own = [](const std::string& mix) { return only_case(mix).kv_cache.swa_pool; };
  EXPECT_TRUE(own("attention: {window: {keys: 64}}, kv_cache: {swa_pool: true}, batch: q1s300"));
  EXPECT_FALSE(own("attention: {window: {keys: 64}}, kv_cache: {swa_pool: false}, batch: q1s300"));
  EXPECT_FALSE(own("attention: {window: {keys: 64}}, batch: q1s300"));
  // The other kinds of a model's layers keep the whole pool.
  const std::string gemma = "model: gemma-3-4b, kv_cache: {swa_pool: true}, batch: q1s3k, ";
  EXPECT_TRUE(own(gemma + "layer: sliding"));
  EXPECT_FALSE(own(gemma + "layer: full"));
}

TEST(Scenario, takes_a_selection_by_maxima_with_a_head_for_each_group) {
  const Case c = only_case(
      "attention: {selection: {topk: 16, unit: 128, groups: kv_heads, score: max}}, batch: 4q1s3k");
  EXPECT_TRUE(c.layer.selection.takes_maxima());
  EXPECT_EQ(c.layer.selection.index_heads, c.layer.heads_kv);
}

TEST(Scenario, takes_a_selection_of_keys) {
  EXPECT_EQ(only_case("batch: 4q1s300").layer.selection, Selection{});
  const Case all = only_case(
      "attention: {selection: {topk: 2k, unit: 16, groups: kv_heads, pattern: shared, overlap: "
      "90%, padding: repeat}, sinks: true}, batch: 4q1s300");
  EXPECT_EQ(all.layer.selection, (Selection{.topk = 2048,
                                            .unit = 16,
                                            .groups = SelectionGroups::kKvHeads,
                                            .pattern = SelectionPattern::kShared,
                                            .overlap = 0.9,
                                            .padding = SelectionPadding::kRepeat}));
  EXPECT_EQ(all.layer.selection_groups(), all.layer.heads_kv);
  EXPECT_EQ(all.layer.selection_group(all.layer.heads_q - 1), all.layer.heads_kv - 1);
  EXPECT_NE(all.requests[0].selection_seed, all.requests[1].selection_seed);
  EXPECT_FALSE(only_case("attention: {selection: none}, batch: q1s300").layer.selection.exists());
  // Lists that neighbours have wholly in common, and not at all.
  for (const auto& [text, overlap] : {std::pair{"1.0", 1.0}, {"100%", 1.0}, {"0", 0.0}}) {
    const Case shared = only_case("attention: {selection: {topk: 8, pattern: shared, overlap: " +
                                  std::string(text) + "}}, batch: q1s300");
    EXPECT_EQ(shared.layer.selection.overlap, overlap);
  }
  const auto page_size_of = [](const std::string& pattern) {
    return only_case("kv_cache: {page_size: 32}, attention: {selection: {topk: 8, pattern: " +
                     pattern + "}}, batch: q1s300")
        .layer.selection.page_size;
  };
  EXPECT_EQ(page_size_of("one_page"), 32);
  EXPECT_EQ(page_size_of("every_page"), 32);
  EXPECT_EQ(page_size_of("holes"), Selection{}.page_size) << "of which no key depends on pages";
  const Case chain = only_case(
      "attention: {selection: {topk: 8}}, batch: [{mode: target_verify, prefix_len: 100, tree: "
      "{chain: 4}}]");
  EXPECT_EQ(chain.layer.selection.topk, 8);
}

TEST(Scenario, takes_the_selection_of_a_sparse_layer_and_what_it_changes_of_it) {
  const std::string model = "model: glm-5, tp: 8, batch: 4q1s3k";
  EXPECT_EQ(only_case(model).layer.selection, (Selection{.topk = 2048, .index_heads = 32}));
  const Case recent = only_case(model + ", attention: {selection: {pattern: recent}}");
  EXPECT_EQ(recent.layer.selection,
            (Selection{.topk = 2048, .pattern = SelectionPattern::kRecent, .index_heads = 32}));
  EXPECT_FALSE(only_case(model + ", attention: {selection: none}").layer.selection.exists());
  EXPECT_FALSE(only_case(model + ", layer: full").layer.selection.exists());
}

TEST(Scenario, takes_compressed_rows_of_a_model_or_leaves_them_out) {
  const std::string model = "model: deepseek-v4-flash, batch: 4q1s3k";
  const Case rows = only_case(model);
  EXPECT_EQ(std::pair(rows.layer.compress_ratio, rows.layer.selection.unit), std::pair(4L, 4L));
  const Case coarse = only_case(model + ", attention: {compress_ratio: 8}");
  EXPECT_EQ(std::pair(coarse.layer.compress_ratio, coarse.layer.selection.unit), std::pair(8L, 8L));
  const Case window = only_case(model + ", attention: {compress_ratio: none, selection: none}");
  EXPECT_EQ(window.layer.compress_ratio, 0);
  EXPECT_EQ(window.layer.sliding_window_size, 127);
}

TEST(Scenario, takes_the_sizes_of_dual_chunks) {
  EXPECT_EQ(only_case("batch: 4q1s300").layer.dual_chunk, DualChunk{});
  const std::string dual = "attention: {dual_chunk: {chunk_size: 8k, local_size: 1k}";
  const AttentionLayer layer = only_case(dual + ", softcap: 30}, batch: 4q1s300").layer;
  EXPECT_EQ(layer.dual_chunk, (DualChunk{8192, 1024}));
  EXPECT_EQ(layer.query_dim(), 3 * layer.head_dim_qk);
  EXPECT_EQ(only_case("attention: {dual_chunk: none}, batch: 4q1s300").layer.dual_chunk,
            DualChunk{});
  EXPECT_EQ(only_case("attention: {dual_chunk: {chunk_size: 1, local_size: 0}}, batch: q1s30")
                .layer.dual_chunk.step(),
            1);
}

TEST(Scenario, takes_the_length_behind_which_a_temperature_rises) {
  EXPECT_EQ(only_case("attention: {temperature_len: 1k}, batch: 4q1s300").layer.temperature_len,
            1024);
  EXPECT_EQ(only_case("attention: {temperature_len: none}, batch: 4q1s300").layer.temperature_len,
            0);
}

TEST(Scenario, has_blocks_of_a_size_or_as_wide_as_a_request_s_new_tokens) {
  const Case sized = only_case(
      "batch: [{mode: dllm_extend, q_len: 96, prefix_len: 7, block: 32}, {mode: dllm_extend, "
      "q_len: 40, prefix_len: 0, block: 32}]");
  EXPECT_EQ(sized.mode, ForwardMode::kDllmExtend);
  EXPECT_EQ(sized.layer.causal_block, 32);
  EXPECT_EQ(
      only_case("batch: [{mode: dllm_extend, q_len: [32, 48], prefix_len: 64}]").layer.causal_block,
      48);
  EXPECT_EQ(only_case("batch: [{mode: dllm_extend, q_len: 8, prefix_len: 64, block: 1k}]")
                .layer.causal_block,
            8);
  EXPECT_EQ(only_case("batch: 4q8s300").layer.causal_block, 1);
}

TEST(Scenario, takes_the_spans_of_a_prompt_and_the_rule_of_a_layer) {
  const Case c = only_case(
      "attention: {spans: within_window}, "
      "batch: [{mode: extend, count: 2, q_len: 14, prefix_len: 5, spans: [[3, 8], [8, 19]]}]");
  EXPECT_EQ(c.requests[1].spans, (std::vector<KeyRun>{{3, 8}, {8, 19}}));
  EXPECT_EQ(c.layer.span_rule, SpanRule::kWithinWindow);
}

TEST(Scenario, takes_the_items_that_a_prompt_ends_in) {
  const Case c =
      only_case("batch: [{mode: extend, count: 2, q_len: 14, prefix_len: 5, items: [3, 2, 4]}]");
  ASSERT_EQ(c.requests.size(), 2u);
  EXPECT_EQ(c.requests[1].items, (std::vector<std::int64_t>{3, 2, 4}));
  EXPECT_EQ(c.requests[1].q_len, 14) << "one token, four delimiters and nine tokens of items";
}

TEST(Scenario, sweeps_over_the_kinds_of_layer) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: gpt-oss-20b}\n"
      "mixes: {m: {batch: 4q1s300}}\n"
      "sweep: {grid: {layer: [full, sliding]}}\n",
      "s.yaml");
  ASSERT_EQ(scenario.cases.size(), 2u);
  EXPECT_EQ(scenario.cases[0].layer.sliding_window_size, -1);
  EXPECT_EQ(scenario.cases[1].layer.sliding_window_size, 127);
  EXPECT_NE(scenario.cases[0].id, scenario.cases[1].id);
}

}  // namespace
}  // namespace attnbench
