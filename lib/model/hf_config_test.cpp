// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "lib/base/error.h"
#include "lib/model/hf_model_types.h"
#include "lib/model/testing/read_hf.h"

namespace attnbench {
namespace {

AttentionLayer layer(const std::string& json) {
  const ModelGeometry model = read_hf(json);
  return layer_of(model, kind_to_run(model, std::nullopt), 1);
}

// testdata/hf holds the fields that the published configs state, and leaves out what they leave
// out.
class PublishedConfig : public testing::TestWithParam<std::string> {};

TEST_P(PublishedConfig, is_its_preset) {
  ModelGeometry preset = *find_model(GetParam());
  ModelGeometry config =
      model_from_hf_config(ATTNBENCH_SOURCE_DIR "/lib/model/testdata/hf/" + GetParam() + ".json");
  config.name = preset.name;
  config.notes = preset.notes;
  config.verified = preset.verified;
  EXPECT_EQ(config.kinds.text(), preset.kinds.text());
  EXPECT_EQ(config.yarn.factor, preset.yarn.factor);
  EXPECT_TRUE(config == preset);
  const LayerKind kind =
      preset.kinds[LayerKind::kSparse] > 0 ? LayerKind::kFull : kind_to_run(preset, std::nullopt);
  EXPECT_DOUBLE_EQ(layer_of(config, kind, 1).scale, layer_of(preset, kind, 1).scale);
}

/// All presets but those whose config.json nobody here has seen.
std::vector<std::string> published_models() {
  std::vector<std::string> names = model_names();
  for (const char* name : {"deepseek-v4-flash", "glm-5.2", "glm-5.3-flash", "mimo-v2-flash",
                           "minimax-m2", "minimax-m3", "qwen3.8-flash-next"})
    std::erase(names, name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Presets, PublishedConfig, testing::ValuesIn(published_models()),
                         [](const auto& name) {
                           std::string word = name.param;
                           std::ranges::replace_if(
                               word, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return word;
                         });

/// A type that the table has not, with all that it has to state.
std::string unknown_with(const std::string& more) {
  return R"({"model_type": "novel", "num_hidden_layers": 8, "num_attention_heads": 16,
             "num_key_value_heads": 8, "head_dim": 128, )" +
         more + "}";
}

TEST(HfConfig, refuses_hybrids_by_the_key_that_it_does_not_know) {
  // Falcon-H1, Ring, ModernBERT, GPT-Neo, Phi-4-flash, Hymba.
  for (const char* key :
       {"mamba_d_ssm", "layer_group_size", "global_attn_every_n_layers", "attention_types",
        "mb_per_layer", "num_memory_tokens", "attention_in_multiplier"}) {
    const std::string value = std::string("\"") + key + "\": [2]";
    EXPECT_EQ(hf_refusal(unknown_with(value)),
              "c.json: attnbench does not know \"" + std::string(key) +
                  "\": the attention may depend on it. If it does not, remove the key from the "
                  "file, or name it in a scenario, model: {hf_config: …, ignore: […]}");
    EXPECT_NE(hf_refusal(R"({"model_type": "llama", )" + value + "}"), "accepted") << key;
  }
}

TEST(HfConfig, names_all_keys_that_it_does_not_know) {
  const std::string message = hf_refusal(unknown_with(R"("mamba_d_ssm": 768, "lm_x": 2)"));
  EXPECT_NE(message.find(R"("lm_x", "mamba_d_ssm")"), std::string::npos) << message;
}

TEST(HfConfig, takes_a_key_that_it_does_not_know_where_that_says_none) {
  EXPECT_EQ(hf_refusal(unknown_with(R"("a": null, "b": false, "c": 0, "d": [], "e": "")")),
            "accepted");
}

TEST(HfConfig, takes_what_published_configs_say_beside_their_attention) {
  struct Row {
    std::string type, more;
  };
  // Older releases of transformers wrote the first ones into each text_config.
  for (const Row& row :
       {Row{"llama", R"("do_sample": true, "early_stopping": true, "num_beam_groups": 1,
                        "num_return_sequences": 1, "repetition_penalty": 1.0, "typical_p": 1.0,
                        "tokenizer_class": "LlamaTokenizer", "prefix": " ", "torchscript": true,
                        "tie_encoder_decoder": true, "_attn_implementation": "sdpa")"},
        {"phi3", R"("full_attn_mod": 1, "interpolate_factor": 1)"},
        {"bloom", R"("masked_softmax_fusion": true, "offset_alibi": 100, "skip_bias_add": true)"},
        {"mpt", R"("init_config": {"name": "kaiming_normal_"}, "tokenizer_name": "x")"},
        {"bart", R"("_num_labels": 3, "extra_pos_embeddings": 2, "normalize_embedding": true)"},
        {"whisper", R"("forced_decoder_ids": [[1, 50259]])"},
        {"cohere2", R"("layer_switch": 4, "order_of_interleaved_layers": "local_attn_first",
                       "position_embedding_type": "rope_gptj", "use_gated_activation": true)"},
        {"glm_moe_dsa", R"("indexer_rope_interleave": true)"},
        {"minimax_m2", R"("qk_norm_type": "per_layer", "use_routing_bias": true)"}}) {
    EXPECT_EQ(hf_refusal(R"({"model_type": ")" + row.type + R"(", )" + row.more + "}"), "accepted")
        << row.type;
  }
}

TEST(HfConfig, refuses_keys_of_other_layers_in_a_type_that_does_not_read_them) {
  for (const char* key :
       {"full_attention_interval", "block_size", "linear_num_heads", "index_n_heads", "attn_scale",
        "full_attn_mod", "layer_switch", "sliding_window_pattern"}) {
    EXPECT_NE(hf_refusal(fmt::format(R"({{"model_type": "llama", "{}": 4}})", key)).find(key),
              std::string::npos)
        << key;
  }
  EXPECT_NE(hf_refusal(R"({"model_type": "phi3", "full_attn_mod": 2})"), "accepted");
  EXPECT_NE(hf_refusal(R"({"model_type": "cohere2", "layer_switch": 2})"), "accepted");
}

TEST(HfConfig, notes_the_keys_that_were_ignored) {
  const std::string ignored[] = {"qk_gain"};
  const ModelGeometry model = parse_hf_config(unknown_with(R"("qk_gain": 2)"), "c.json", ignored);
  EXPECT_EQ(model.notes, "keys of its config.json that were ignored: qk_gain");
  EXPECT_THROW((void)parse_hf_config(unknown_with(R"("vocab_size": 2)"), "c.json", ignored),
               ConfigError);
}

TEST(HfConfig, knows_state_space_keys_of_types_with_such_layers_only) {
  const std::string state_space = R"("mamba_d_state": 16, "mamba_expand": 2)";
  EXPECT_EQ(hf_refusal(R"({"model_type": "jamba", )" + state_space + "}"), "accepted");
  EXPECT_NE(hf_refusal(R"({"model_type": "llama", )" + state_space + "}"), "accepted");
}

TEST(HfModelTypes, each_stand_once_with_a_source_and_whole_defaults) {
  std::set<std::string_view> seen;
  for (const HfModelType& type : hf_model_types()) {
    EXPECT_TRUE(seen.insert(type.model_type).second) << type.model_type;
    EXPECT_FALSE(type.source.empty()) << type.model_type;
    if (type.states_all) continue;
    const std::string json =
        R"({"model_type": ")" + std::string(type.model_type) + R"(", "head_dim": 64})";
    const ModelGeometry model = read_hf(json);
    EXPECT_GT(model.heads_q, 0) << json;
    EXPECT_EQ(model.kinds.total(), model.layers) << json;
  }
}

TEST(HfConfig, of_gemma_3_takes_head_dim_scalar_and_pattern_from_transformers) {
  const ModelGeometry model = read_hf(
      R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 3840,
          "num_attention_heads": 16, "num_hidden_layers": 48, "num_key_value_heads": 8,
          "sliding_window": 1024}})");
  EXPECT_EQ(model.head_dim, 256);  // not 3840 / 16 = 240
  EXPECT_EQ(model.query_pre_attn_scalar, 256);
  EXPECT_EQ(model.kinds, kind_counts(8, LayerKind::kSliding, 40));
}

TEST(HfConfig, of_falcon_has_one_kv_head_unless_it_says_otherwise) {
  const std::string seven = R"({"model_type": "falcon", "hidden_size": 4544,
      "num_attention_heads": 71, "num_hidden_layers": 32)";
  EXPECT_EQ(read_hf(seven + "}").heads_kv, 1);
  EXPECT_EQ(read_hf(seven + R"(, "multi_query": true})").heads_kv, 1);
  EXPECT_EQ(read_hf(seven + R"(, "multi_query": false})").heads_kv, 71);
  EXPECT_EQ(read_hf(seven + "}").head_dim, 64);
  // Falcon-40B
  EXPECT_EQ(read_hf(R"({"model_type": "falcon", "hidden_size": 8192, "num_attention_heads": 128,
                     "num_hidden_layers": 60, "num_kv_heads": 8, "multi_query": true,
                     "new_decoder_architecture": true})")
                .heads_kv,
            8);
  EXPECT_NE(hf_refusal(seven + R"(, "alibi": true})").find("alibi is true: Falcon also divides"),
            std::string::npos);
}

TEST(HfConfig, of_chatglm_has_its_groups_as_kv_heads) {
  const ModelGeometry model = read_hf(
      R"({"model_type": "chatglm", "hidden_size": 4096, "num_attention_heads": 32,
          "multi_query_attention": true, "multi_query_group_num": 2, "kv_channels": 128,
          "num_layers": 28})");
  EXPECT_EQ(model.heads_kv, 2);
  EXPECT_EQ(model.head_dim, 128);
  EXPECT_EQ(model.layers, 28);
  EXPECT_EQ(read_hf(R"({"model_type": "chatglm"})").heads_kv, 32);
}

// As CohereForAI/c4ai-command-r7b-12-2024, allenai/OLMo-2-1124-13B and EleutherAI/gpt-neox-20b
// state their heads.
TEST(HfConfig, of_command_r_olmo_2_and_gpt_neox_has_heads_as_wide_as_their_share) {
  const ModelGeometry command = read_hf(
      R"({"model_type": "cohere2", "hidden_size": 4096, "num_attention_heads": 32,
          "num_hidden_layers": 32, "num_key_value_heads": 8, "sliding_window": 4096,
          "sliding_window_pattern": 4})");
  EXPECT_EQ(command.kinds, kind_counts(8, LayerKind::kSliding, 24));
  EXPECT_EQ(command.sliding_window, 4096);
  EXPECT_EQ(command.heads_kv, 8);
  EXPECT_EQ(command.head_dim, 128);
  EXPECT_EQ(read_hf(R"({"model_type": "cohere"})").heads_kv, 64);
  const ModelGeometry olmo = read_hf(R"({"model_type": "olmo2", "hidden_size": 5120,
      "num_attention_heads": 40, "num_hidden_layers": 40, "num_key_value_heads": 40})");
  EXPECT_EQ(olmo.head_dim, 128);
  EXPECT_EQ(olmo.heads_kv, 40);
  const ModelGeometry neox = read_hf(R"({"model_type": "gpt_neox", "hidden_size": 6144,
      "num_attention_heads": 64, "num_hidden_layers": 44, "rotary_pct": 0.25})");
  EXPECT_EQ(neox.head_dim, 96);
  EXPECT_EQ(neox.heads_kv, 64);
  EXPECT_EQ(neox.kinds, kind_counts(44, LayerKind::kSliding, 0));
}

TEST(HfConfig, of_granite_scales_by_its_multiplier) {
  // Granite-3.1-8b
  EXPECT_DOUBLE_EQ(layer(R"({"model_type": "granite", "attention_multiplier": 0.0078125,
                             "hidden_size": 4096, "num_attention_heads": 32,
                             "num_hidden_layers": 40, "num_key_value_heads": 8})")
                       .scale,
                   0.0078125);
  EXPECT_DOUBLE_EQ(layer(R"({"model_type": "granite"})").scale, 1);
}

TEST(HfConfig, of_qwen_slides_from_max_window_layers_on) {
  const std::string qwen = R"({"model_type": "qwen2", "hidden_size": 3584, "sliding_window": 4096,
      "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4)";
  const std::string used = qwen + R"(, "use_sliding_window": true)";
  EXPECT_EQ(read_hf(qwen + R"(, "max_window_layers": 20})").kinds[LayerKind::kSliding], 0);
  EXPECT_EQ(read_hf(used + "}").kinds[LayerKind::kSliding], 0);
  EXPECT_EQ(read_hf(used + R"(, "max_window_layers": 28})").sliding_window, 0);
  EXPECT_EQ(read_hf(used + R"(, "max_window_layers": 20})").kinds,
            kind_counts(20, LayerKind::kSliding, 8));
  EXPECT_EQ(read_hf(used + R"(, "max_window_layers": 0})").kinds,
            kind_counts(0, LayerKind::kSliding, 28));
}

TEST(HfConfig, of_qwen_with_1m_tokens_has_dual_chunks) {
  // Qwen2.5-7B-Instruct-1M
  const std::string qwen = R"({"model_type": "qwen2", "hidden_size": 3584, "sliding_window": 32768,
      "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
      "use_sliding_window": false, "max_window_layers": 28, "dual_chunk_attention_config": )";
  const ModelGeometry model = read_hf(qwen + R"({"chunk_size": 262144, "local_size": 8192,
                                              "original_max_position_embeddings": 262144}})");
  EXPECT_EQ(model.dual_chunk, (DualChunk{262144, 8192}));
  EXPECT_NE(model.notes.find("without its sparse patterns"), std::string::npos);
  const AttentionLayer dual = layer_of(model, LayerKind::kFull, 4);
  EXPECT_EQ(dual.dual_chunk, (DualChunk{262144, 8192}));
  EXPECT_EQ(dual.query_dim(), 3 * 128);
  EXPECT_EQ(read_hf(qwen + "{}}").dual_chunk, (DualChunk{8192, 1024}));
  EXPECT_EQ(read_hf(qwen + "null}").dual_chunk, DualChunk{});
  EXPECT_EQ(hf_refusal(qwen + R"({"chunk_size": 1024}})"),
            "c.json: dual_chunk_attention_config.local_size is 1024, not below chunk_size 1024");
  EXPECT_EQ(hf_refusal(qwen + R"({"chunk_size": 0}})"),
            "c.json: dual_chunk_attention_config.chunk_size is 0, not a whole number from 1 to "
            "2147483647");
  EXPECT_EQ(
      hf_refusal(R"({"model_type": "bloom", "dual_chunk_attention_config": {}})"),
      "c.json: dual_chunk_attention_config is of models whose layers all have plain heads and full "
      "attention, without ALiBi");
}

TEST(HfConfig, of_gemma_3n_has_layers_that_read_the_keys_of_others) {
  // gemma-3n-E2B: 30 layers, of which the last 10 share
  const std::string e2b = R"({"model_type": "gemma3n", "text_config": {"model_type": "gemma3n_text",
      "num_hidden_layers": 30, "num_kv_shared_layers": )";
  const ModelGeometry model = read_hf(e2b + "10}}");
  EXPECT_EQ(model.kinds, kind_counts(6, LayerKind::kSliding, 24));
  EXPECT_EQ(model.kv_shared, kind_counts(2, LayerKind::kSliding, 8));
  EXPECT_EQ(model.sliding_window, 512);
  EXPECT_EQ(layer_of(model, LayerKind::kFull, 1).scale, 1);
  EXPECT_EQ(model.notes,
            "the last 10 layers (2 full, 8 sliding) read the keys and values of an earlier layer "
            "and write none");
  EXPECT_EQ(read_hf(e2b + "0}}").kv_shared, LayerCounts());
  EXPECT_EQ(read_hf(R"({"model_type": "gemma3n_text"})").kv_shared,
            kind_counts(3, LayerKind::kSliding, 12));
  const std::string four = R"({"model_type": "gemma3n_text", "num_hidden_layers": 4, "layer_types":
      ["sliding_attention", "full_attention", "full_attention", "full_attention"],
      "num_kv_shared_layers": )";
  EXPECT_EQ(read_hf(four + "2}").kv_shared, kind_counts(2, LayerKind::kSliding, 0));
  EXPECT_EQ(hf_refusal(four + "3}"),
            "c.json: num_kv_shared_layers is 3: no full layer stands before them, whose keys they "
            "read");
}

TEST(HfConfig, refuses_keys_that_change_what_layers_attend_to_where_it_does_not_read_them) {
  EXPECT_EQ(hf_refusal(R"({"model_type": "llama", "attention_chunk_size": 8192})"),
            "c.json: attention_chunk_size changes what layers attend to, and what it means for "
            "model type \"llama\" is not known: give the geometry of a layer inline, {heads_q: …}");
  EXPECT_NE(hf_refusal(R"({"model_type": "llama", "cross_attention_layers": [3, 8]})")
                .find("cross_attention_layers changes"),
            std::string::npos);
  for (const char* key : {"attn_layer_period", "num_kv_shared_layers", "index_topk",
                          "global_head_dim", "sliding_window_size", "per_layer_config",
                          "index_topk_blocks", "num_attention_heads_per_layer"}) {
    const std::string config = R"({"model_type": "llama", ")" + std::string(key) + "\": ";
    EXPECT_NE(hf_refusal(config + "8}").find(key), std::string::npos);
    for (const char* none : {"0", "-1", "null", "false", "[]", "{}"}) {
      EXPECT_EQ(hf_refusal(config + none + "}"), "accepted") << key << none;
    }
  }
  // MiniMax-M2 states its list, of full layers alone.
  EXPECT_EQ(hf_refusal(R"({"model_type": "minimax_m2", "attn_type_list": [1, 1]})"), "accepted");
  EXPECT_NE(hf_refusal(R"({"model_type": "minimax_m2", "attn_type_list": [1, 0]})"), "accepted");
}

TEST(HfConfig, of_grok_2_has_a_cap_and_a_temperature) {
  // What xAI states of Grok 2, whose model type is that of an image model in transformers.
  const std::string grok = R"({"model_type": "git", "num_attention_heads": 64,
      "num_key_value_heads": 8, "num_hidden_layers": 64, "head_dim": 128,
      "attn_logit_softcapping": 30.0, "final_logit_softcapping": 50, "sliding_window_size": -1,
      "global_attn_every_n": 1, "attn_temperature_len": )";
  EXPECT_EQ(layer(grok + "1024}").logit_cap, 30);
  EXPECT_EQ(read_hf(grok + "1024}").notes,
            "logits of queries behind 1024 tokens are multiplied by log2(their place) / "
            "log2(1024)");
  EXPECT_EQ(layer(grok + "1024}").temperature_len, 1024);
  EXPECT_EQ(layer(grok + "-1}").temperature_len, 0);
  EXPECT_EQ(layer(grok + "null}").temperature_len, 0);
  EXPECT_EQ(hf_refusal(grok + "1}"),
            "c.json: attn_temperature_len is 1; a temperature begins at 2 tokens or more, and -1 "
            "is none");
}

TEST(HfConfig, of_llama_3_2_vision_has_the_cross_layers_that_it_lists) {
  const auto config = [](const std::string& text, const std::string& more = "") {
    return R"({"model_type": "mllama", "text_config": {)" + text + "}" + more + "}";
  };
  EXPECT_EQ(read_hf(config("")).kinds, kind_counts(32, LayerKind::kCross, 8))
      << "transformers' default";
  EXPECT_EQ(read_hf(config(R"("num_hidden_layers": 9)")).kinds,
            kind_counts(7, LayerKind::kCross, 2));
  const ModelGeometry two = read_hf(config(R"("cross_attention_layers": [0, 5])"));
  EXPECT_EQ(two.kinds, kind_counts(38, LayerKind::kCross, 2));
  EXPECT_EQ(two.encoder_len, 0) << "without a vision_config a request says";
  EXPECT_EQ(hf_refusal(config(R"("cross_attention_layers": [5, 5])")),
            "c.json: text_config.cross_attention_layers names a layer twice");
  EXPECT_NE(hf_refusal(config(R"("cross_attention_layers": [40])")), "accepted");
  // A patch is 14 by 14 pixels unless the config says otherwise, and each tile has a class token.
  EXPECT_EQ(read_hf(config("", R"(, "vision_config": {"image_size": 560})")).encoder_len,
            4 * (40 * 40 + 1));
  EXPECT_EQ(hf_refusal(config("", R"(, "vision_config": {"image_size": 65536, "patch_size": 1})")),
            "c.json: vision_config gives an image 17179869188 tokens, more than 2147483647");
}

TEST(HfConfig, of_a_decoder_beside_an_encoder_has_a_full_and_a_cross_layer_for_each_of_its_own) {
  const ModelGeometry whisper = read_hf(R"({"model_type": "whisper", "decoder_layers": 2,
      "encoder_layers": 24, "num_hidden_layers": 24, "max_source_positions": 750})");
  EXPECT_EQ(whisper.kinds, kind_counts(2, LayerKind::kCross, 2));
  EXPECT_EQ(whisper.layers, 4);
  EXPECT_EQ(whisper.heads_q, 6);
  EXPECT_EQ(whisper.heads_kv, 6);
  EXPECT_EQ(whisper.head_dim, 64);
  EXPECT_EQ(whisper.encoder_len, 750);
  EXPECT_NE(whisper.notes.find("decoder's 2 layers are a full and a cross one each"),
            std::string::npos);
  const ModelGeometry bart = read_hf(R"({"model_type": "bart"})");
  EXPECT_EQ(bart.kinds, kind_counts(12, LayerKind::kCross, 12));
  EXPECT_EQ(bart.encoder_len, 0) << "as long as the text that it reads";
  EXPECT_EQ(hf_refusal(R"({"model_type": "bart", "decoder_layers": 4096})"),
            "c.json: decoder_layers is 4096, not a whole number from 1 to 2048");
}

TEST(HfConfig, of_mistral_slides_by_default_and_not_when_null) {
  EXPECT_EQ(layer(R"({"model_type": "mistral"})").sliding_window_size, 4095);
  EXPECT_EQ(layer(R"({"model_type": "mistral", "sliding_window": null})").sliding_window_size, -1);
}

TEST(HfConfig, of_bloom_and_mpt_has_alibi_and_goes_by_its_own_names) {
  // bloom-7b1 and mpt-7b
  const AttentionLayer bloom =
      layer(R"({"model_type": "bloom", "n_layer": 30, "n_head": 32, "hidden_size": 4096})");
  EXPECT_TRUE(bloom.has_alibi);
  EXPECT_EQ(bloom.heads_kv, 32);
  EXPECT_EQ(bloom.head_dim_qk, 128);
  const std::string mpt = R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32)";
  EXPECT_TRUE(layer(mpt + "}").has_alibi);
  const AttentionLayer scaled =
      layer(mpt + R"(, "attn_config": {"alibi": false, "attn_type": "multihead_attention",
                                 "softmax_scale": 0.5}})");
  EXPECT_FALSE(scaled.has_alibi);
  EXPECT_TRUE(layer(mpt + R"(, "attn_config": {"softmax_scale": 0.5}})").has_alibi);
  EXPECT_EQ(scaled.scale, 0.5);
  EXPECT_NE(hf_refusal(mpt + R"(, "attn_config": {"attn_type": "multiquery_attention"}})")
                .find("attn_config.attn_type is \"multiquery_attention\""),
            std::string::npos);
  EXPECT_EQ(hf_refusal(R"({"model_type": "bloom", "n_head": 32, "num_attention_heads": 16})"),
            "c.json: n_head and num_attention_heads are two names of one figure and differ: 32 and "
            "16");
}

TEST(HfConfig, of_sparse_layers_says_what_their_indexer_takes_or_its_type_does) {
  const ModelGeometry glm = read_hf(R"({"model_type": "glm_moe_dsa"})");
  EXPECT_EQ(std::pair(glm.index_topk, glm.index_n_heads), std::pair(2048, 32));
  const ModelGeometry other =
      read_hf(R"({"model_type": "deepseek_v32", "index_topk": 1024, "index_n_heads": 16})");
  EXPECT_EQ(std::pair(other.index_topk, other.index_n_heads), std::pair(1024, 16));
  EXPECT_EQ(kind_to_run(other, std::nullopt), LayerKind::kSparse);
  EXPECT_EQ(read_hf(R"({"model_type": "deepseek_v3"})").index_topk, 0);
}

TEST(HfConfig, of_latent_attention_has_value_heads_as_it_states_or_as_its_type_has_them) {
  EXPECT_EQ(read_hf(R"({"model_type": "deepseek_v3"})").head_dim_v, 128);
  EXPECT_EQ(read_hf(R"({"model_type": "glm_moe_dsa"})").head_dim_v, 256);
  EXPECT_EQ(read_hf(R"({"model_type": "deepseek_v3", "v_head_dim": 96})").head_dim_v, 96);
  const std::string unknown = R"({"model_type": "kimi_linear", "linear_attn_config":
      {"full_attn_layers": [4], "kda_layers": [1, 2, 3]}, "num_hidden_layers": 4})";
  EXPECT_EQ(read_hf(unknown).head_dim_v, 0);
}

TEST(HfConfig, of_gemma_2_caps_logits_unless_null_says_not_to) {
  EXPECT_EQ(read_hf(R"({"model_type": "gemma2"})").softcap, 50);
  EXPECT_EQ(read_hf(R"({"model_type": "gemma2", "attn_logit_softcapping": null})").softcap, 0);
}

TEST(HfConfig, of_deepseek_multiplies_the_scale_by_mscale_squared_with_yarn) {
  const std::string v3 = R"({"model_type": "deepseek_v3", "rope_scaling": )";
  const auto scale = [&](const std::string& rope) { return layer(v3 + rope + "}").scale; };
  EXPECT_NEAR(scale(R"({"type": "yarn", "factor": 40, "mscale": 1, "mscale_all_dim": 1})"),
              0.1352337789, 1e-10);
  EXPECT_NEAR(scale(R"({"rope_type": "deepseek_yarn", "factor": 40, "mscale_all_dim": 1})"),
              0.1352337789, 1e-10);
  EXPECT_NEAR(scale(R"({"type": "yarn", "factor": 40, "mscale": 1})"), 0.0721687836, 1e-10);
  EXPECT_NEAR(scale(R"({"rope_type": "default", "mscale_all_dim": 1})"), 0.0721687836, 1e-10);
  EXPECT_NEAR(scale("null"), 0.0721687836, 1e-10);
  EXPECT_NEAR(layer(R"({"model_type": "deepseek_v3", "rope_parameters":
                        {"rope_type": "yarn", "factor": 40, "mscale_all_dim": 1}})")
                  .scale,
              0.1352337789, 1e-10);
  EXPECT_EQ(hf_refusal(v3 + R"({"type": "yarn", "mscale_all_dim": 1}})"),
            "c.json: rope_scaling.factor is missing beside mscale_all_dim");
  EXPECT_EQ(hf_refusal(v3 + R"({"factor": 40, "mscale_all_dim": 1}})"),
            "c.json: rope_scaling.mscale_all_dim is given without a type that says whether it "
            "applies");
}

TEST(HfConfig, of_plain_heads_leaves_the_scale_to_head_dim_with_yarn) {
  EXPECT_DOUBLE_EQ(layer(R"({"model_type": "qwen3", "rope_scaling":
                             {"type": "yarn", "factor": 4, "mscale_all_dim": 1}})")
                       .scale,
                   1 / std::sqrt(128.0));
}

TEST(HfConfig, counts_layer_types_and_refuses_them_where_they_are_ignored) {
  const std::string two = R"(, "num_hidden_layers": 2, "layer_types": ["sliding_attention",)";
  EXPECT_EQ(read_hf(R"({"model_type": "gpt_oss")" + two + R"( "full_attention"]})").kinds,
            kind_counts(1, LayerKind::kSliding, 1));
  EXPECT_NE(hf_refusal(R"({"model_type": "llama")" + two + R"( "full_attention"]})")
                .find("layer_types contradicts model type llama"),
            std::string::npos);
  EXPECT_EQ(hf_refusal(R"({"model_type": "gpt_oss")" + two + "\"full_attention\", \"x\"]}"),
            "c.json: layer_types has 3 entries for 2 layers");
  EXPECT_NE(
      hf_refusal(R"({"model_type": "gpt_oss")" + two + "\"moe\"]}").find("has \"moe\"; known"),
      std::string::npos);
  EXPECT_EQ(hf_refusal(R"({"model_type": "gpt_oss", "sliding_window": null)" + two +
                       "\"full_attention\"]}"),
            "c.json: layer_types has sliding layers, but there is no sliding_window");
}

TEST(HfConfig, of_an_unknown_type_must_state_everything) {
  EXPECT_EQ(
      hf_refusal(R"({"model_type": "newmodel", "hidden_size": 64, "num_attention_heads": 4})"),
      "c.json: model type \"newmodel\" has no defaults here; state num_hidden_layers, "
      "num_key_value_heads, head_dim");
  const std::string whole = R"({"model_type": "newmodel", "num_hidden_layers": 2, "head_dim": 64,
      "num_attention_heads": 4, "num_key_value_heads": 2)";
  EXPECT_EQ(read_hf(whole + "}").head_dim, 64);
  EXPECT_EQ(read_hf(whole + R"(, "alibi": false})").head_dim, 64);
  EXPECT_NE(hf_refusal(whole + R"(, "sliding_window": 64})").find("state layer_types too"),
            std::string::npos);
  EXPECT_EQ(
      read_hf(whole + R"(, "sliding_window": 64, "use_sliding_window": false})").sliding_window, 0);
  EXPECT_EQ(read_hf(whole + R"(, "sliding_window": 64,
                             "layer_types": ["full_attention", "sliding_attention"]})")
                .kinds,
            kind_counts(1, LayerKind::kSliding, 1));
  EXPECT_NE(hf_refusal(whole + R"(, "attention_multiplier": 0.1})")
                .find("the meaning of attention_multiplier is unknown, too"),
            std::string::npos);
  // A decoder beside an encoder has cross layers, and values of another width another cache.
  EXPECT_EQ(read_hf(whole + R"(, "is_encoder_decoder": false, "v_head_dim": 64})").layers, 2);
  EXPECT_EQ(read_hf(whole + R"(, "v_head_dim": null})").head_dim, 64);
  for (const char* more : {R"("is_encoder_decoder": true)", R"("v_head_dim": 48)"}) {
    EXPECT_NE(hf_refusal(whole + ", " + more + "}").find("is unknown, so the meaning of"),
              std::string::npos)
        << more;
  }
}

TEST(HfConfig, names_the_path_of_a_number_that_is_none) {
  const auto of = [](const std::string& key, const std::string& value) {
    return hf_refusal(R"({"model_type": "llama", ")" + key + "\": " + value + "}");
  };
  EXPECT_EQ(of("num_key_value_heads", "0"),
            "c.json: num_key_value_heads is 0, not a whole number from 1 to 4096");
  EXPECT_EQ(of("num_attention_heads", "-8"),
            "c.json: num_attention_heads is -8, not a whole number from 1 to 4096");
  EXPECT_EQ(of("num_attention_heads", "63.9"),
            "c.json: num_attention_heads is 63.9, not a whole number from 1 to 4096");
  EXPECT_EQ(of("num_attention_heads", "4294967360"),
            "c.json: num_attention_heads is 4294967360, not a whole number from 1 to 4096");
  EXPECT_EQ(of("num_attention_heads", "9223372036854775808"),
            "c.json: num_attention_heads is 9223372036854775808, not a whole number from 1 to "
            "4096");
  EXPECT_EQ(of("head_dim", "2000000000"),
            "c.json: head_dim is 2000000000, not a whole number from 1 to 4096");
  EXPECT_EQ(of("num_key_value_heads", "false"),
            "c.json: num_key_value_heads is false, not a whole number from 1 to 4096");
  EXPECT_EQ(of("num_hidden_layers", "\"many\""),
            "c.json: num_hidden_layers is a string, not a whole number from 1 to 4096");
  EXPECT_EQ(of("num_key_value_heads", "5"),
            "c.json: num_key_value_heads is 5, no divisor of 32 query heads");
  EXPECT_EQ(hf_refusal(R"({"model_type": "gemma3", "text_config": {"head_dim": -1}})"),
            "c.json: text_config.head_dim is -1, not a whole number from 1 to 4096");
  EXPECT_EQ(hf_refusal(R"({"model_type": "gemma3", "text_config": 3})"),
            "c.json: text_config is 3, not an object");
  EXPECT_EQ(hf_refusal(R"({"model_type": "gemma3"})"),
            "c.json: text_config is missing: model type gemma3 keeps its layers there");
}

TEST(HfConfig, quotes_nothing_of_a_file_that_is_no_json_object) {
  EXPECT_EQ(hf_refusal("root:x:0:0:root"), "c.json: no JSON object: syntax error at 1:1");
  EXPECT_EQ(hf_refusal("{\n  secret"), "c.json: no JSON object: syntax error at 2:3");
  EXPECT_EQ(hf_refusal("\"secret\""), "c.json: no JSON object: it must begin with {");
  EXPECT_EQ(hf_refusal("{\"head_dim\": 1e999}").find("1e999"), std::string::npos);
  EXPECT_EQ(hf_refusal("").substr(0, 22), "c.json: no JSON object");
}

TEST(HfConfig, is_a_regular_file) {
  const std::string folder = testing::TempDir();
  EXPECT_THROW((void)model_from_hf_config(folder), ConfigError);
  EXPECT_THROW((void)model_from_hf_config("/no/such/config.json"), ConfigError);
  const std::string pipe = folder + "hf_config_test_pipe";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW((void)model_from_hf_config(pipe), ConfigError);
  std::filesystem::remove(pipe);
}

TEST(HfConfig, survives_a_million_open_brackets) {
  EXPECT_NE(hf_refusal(std::string(1000000, '[')), "accepted");
  EXPECT_EQ(hf_refusal(std::string(100000, '[') + std::string(100000, ']')),
            "c.json: no JSON object: it must begin with {");
}

}  // namespace
}  // namespace attnbench
