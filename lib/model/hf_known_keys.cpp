// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_known_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/model/model_geometry.h"

namespace attnbench {
namespace {

// Keys that leave the attention of a layer as it is: its inputs already carry what they change
// (RoPE, norms, projections), or they are of the vocabulary, the MLP, training or the program that
// wrote the file. From the configuration classes of transformers 5.23.0 that hf_model_types.cpp
// names; those of generation and those of single published files are from memory.
constexpr std::string_view kHarmless[] = {
    // The file and its writer.
    "_attn_implementation_autoset", "_name_or_path", "architectures", "attn_implementation",
    "auto_map", "cache_implementation", "compression_config", "dtype", "finetuning_task",
    "gradient_checkpointing", "model_type", "name_or_path", "quantization_config", "torch_dtype",
    "transformers_version", "unsloth_fixed", "unsloth_version", "use_cache", "_attn_implementation",
    "_commit_hash", "_flash_attn_2_enabled", "init_config", "remove_invalid_values",
    "tf_legacy_loss", "tokenizer_class", "tokenizer_name", "torchscript", "use_bfloat16",
    // Generation and training.
    "apply_spec_augment", "begin_suppress_tokens", "chunk_size_feed_forward", "id2label",
    "init_device", "init_std", "initializer_range", "label2id", "length_penalty", "max_length",
    "min_length", "no_repeat_ngram_size", "num_beams", "num_labels", "num_logits_to_keep",
    "output_attentions", "output_hidden_states", "output_router_logits", "pretraining_tp",
    "problem_type", "return_dict", "suppress_tokens", "task_specific_params", "temperature",
    "top_k", "top_p", "use_weighted_layer_sum", "_num_labels", "bad_words_ids", "diversity_penalty",
    "do_sample", "early_stopping", "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty", "force_bos_token_to_be_generated", "forced_decoder_ids",
    "neftune_noise_alpha", "num_beam_groups", "num_return_sequences", "output_past",
    "output_scores", "prefix", "repetition_penalty", "return_dict_in_generate",
    "tie_encoder_decoder", "typical_p",
    // Vocabulary, residual stream, embeddings and heads behind the last layer.
    "altup_active_idx", "altup_coef_clip", "altup_correct_scale", "altup_num_inputs",
    "apply_residual_connection_post_layernorm", "embedding_fraction", "embedding_multiplier",
    "embedding_multiplier_scale", "final_logit_softcapping", "fp32_residual_connection",
    "full_attn_alpha_factor", "full_attn_beta_factor", "laurel_rank", "learned_pos_emb",
    "linear_attn_alpha_factor", "linear_attn_beta_factor", "logit_scale", "logits_scaling",
    "mlp_alpha_factor", "mlp_beta_factor", "norm_type", "num_ln_in_parallel_attn",
    "num_nextn_predict_layers", "output_multiplier_scale", "padded_vocab_size", "parallel_attn",
    "post_layer_norm", "postnorm", "rescale_prenorm_residual", "residual_in_fp32",
    "residual_multiplier", "rmsnorm", "scale_embedding", "slow_but_exact", "tie_word_embeddings",
    "use_parallel_residual", "vocab_size", "vocab_size_per_layer_input",
    // Sizes that are read where they count: the rest of the same figure under its second name, the
    // heads beside latent attention, an encoder beside a decoder.
    "d_model", "decoder_attention_heads", "decoder_layers", "encoder_attention_heads",
    "encoder_layers", "head_dim", "hidden_size", "hidden_size_per_layer_input", "is_decoder",
    "is_encoder_decoder", "n_embd", "n_embed", "num_attention_heads", "num_hidden_layers",
    "num_key_value_heads", "qk_head_dim",
    // Positions and rotary embeddings: queries and keys carry them.
    "initial_context_length", "max_position_embeddings", "max_seq_len", "max_sequence_length",
    "max_target_positions", "mla_use_nope", "model_max_length", "original_max_position_embeddings",
    "original_rope", "no_rope_layer_interval", "no_rope_layers", "partial_rotary_factor",
    "rope_interleave", "rope_local_base_freq", "rope_parameters", "rope_ratio", "rope_scaling",
    "rope_theta", "rotary_dim", "rotary_emb_base", "rotary_pct", "seq_length",
    "extra_pos_embeddings", "indexer_rope_interleave", "interpolate_factor", "normalize_embedding",
    // Projections, biases and norms of queries, keys and values; gates of the output.
    "add_bias_linear", "add_qkv_bias", "attention_bias", "attn_output_gate", "bias", "clip_qkv",
    "interleaved_qkv", "no_bias", "q_lora_rank", "qk_layernorm", "qk_ln", "qkv_bias", "use_bias",
    "use_qk_norm", "use_qkv_bias", "qk_norm_type", "skip_bias_add", "skip_bias_add_qkv",
    // How the modelling code computes the same.
    "apply_query_key_layer_scaling", "attention_softmax_in_fp32", "attn_impl",
    "bias_dropout_fusion", "masked_softmax_fusion", "use_flash_attn", "use_flash_attention",
    // Feed-forward layers and mixtures of experts.
    "activation", "activation_function", "activation_sparsity_pattern", "aux_loss_alpha",
    "decoder_ffn_dim", "decoder_sparse_step", "encoder_ffn_dim", "ep_size", "expansion_ratio",
    "ffn_config", "ffn_hidden_size", "first_k_dense_replace", "hidden_act", "hidden_activation",
    "intermediate_size", "intermediate_size_mlp", "mlp_bias", "mlp_hidden_act", "mlp_layer_types",
    "mlp_only_layers", "n_group", "norm_topk_prob", "num_expert_group", "routed_scaling_factor",
    "scoring_func", "seq_aux", "shared_intermediate_size", "swiglu_alpha", "swiglu_limit",
    "topk_group", "topk_method", "use_grouped_topk", "use_gated_activation", "use_routing_bias",
    // Whisper's features.
    "classifier_proj_size", "max_source_positions", "median_filter_width", "num_mel_bins"};

// Words in the names of whole families of such keys.
constexpr std::string_view kHarmlessWords[] = {
    "audio",         "dropout",      "expert",        "image",       "layerdrop",
    "layer_norm_ep", "layernorm_",   "mask_feature_", "mask_time_",  "moe",
    "mtp",           "norm_eps",     "pdrop",         "projection_", "router",
    "_token_id",     "_token_index", "video",         "vision"};

// State-space layers, in types that have them as layers of their own.
constexpr std::string_view kStateSpacePrefixes[] = {
    "mamba_", "ssm_",       "time_step_", "conv_kernel",   "n_groups",
    "expand", "chunk_size", "use_mamba",  "use_conv_bias", "use_associative_scan"};

/// Keys that types state beside the one that is read, or that are of parts of layers which are read
/// elsewhere. In other types they would tell of layers that the geometry has not.
struct KeysOfRule {
  HfLayerRule rule;
  std::initializer_list<std::string_view> keys;
};
const KeysOfRule kOfRules[] = {
    {HfLayerRule::kWindowFrom, {"max_window_layers", "use_sliding_window"}},
    {HfLayerRule::kWindowByFlag, {"max_window_layers", "use_sliding_window"}},
    {HfLayerRule::kWindowExceptNth, {"_sliding_window_pattern", "sliding_window_pattern"}},
    // Llama 4's factor of queries far back in layers without RoPE: queries carry it.
    {HfLayerRule::kChunkedExceptNth, {"attn_scale", "attn_temperature_tuning", "floor_scale"}},
    {HfLayerRule::kLinearExceptNth, {"full_attention_interval"}},
    {HfLayerRule::kByPattern, {"hybrid_override_pattern"}},
    {HfLayerRule::kSparse,
     {"index_head_dim", "index_n_heads", "index_skip_topk_offset", "index_topk", "index_topk_freq",
      "index_topk_pattern", "indexer_types"}}};

constexpr std::string_view kOfLinearLayers[] = {
    "block_size",       "linear_conv_kernel_dim", "linear_head_dim",        "linear_key_head_dim",
    "linear_num_heads", "linear_num_key_heads",   "linear_num_value_heads", "linear_value_head_dim",
    "mamba_ssm_dtype"};

bool is_of_its_layers(std::string_view key, const JsonFields& config, const HfModelType& type) {
  const bool has_linear = type.linear_sort != LinearSort::kUnknown;
  if (has_linear && std::ranges::find(kOfLinearLayers, key) != std::end(kOfLinearLayers)) {
    return true;
  }
  // Qwen 2's switch and count, which mean nothing beside no window.
  if ((key == "max_window_layers" || key == "use_sliding_window") &&
      config.says_none("sliding_window")) {
    return true;
  }
  return std::ranges::any_of(kOfRules, [&](const KeysOfRule& of) {
    return of.rule == type.rule && std::ranges::find(of.keys, key) != of.keys.end();
  });
}

/// Keys that leave attention as it is in one type, or with one value.
bool is_harmless_here(std::string_view key, const JsonFields& config, const HfModelType& type) {
  const std::string_view name = type.model_type;
  // The bias of BLOOM is the usual one; its first program computed it for so many positions.
  if (key == "offset_alibi") return name == "bloom";
  // Phi 3: each layer is a full one, or has the window that is read.
  if (key == "full_attn_mod") return name == "phi3" && config.whole(key, 1, kMaxLayers) == 1;
  if (name != "cohere2") return false;
  // Command R7B, which says the same in sliding_window_pattern.
  if (key == "layer_switch") return config.whole(key, 1, kMaxLayers) == 4;
  if (key == "order_of_interleaved_layers") return config.word(key) == "local_attn_first";
  return key == "position_embedding_type" || key == "use_embedding_sharing" ||
         key == "use_parallel_block" || key == "use_parallel_embedding";
}

bool is_harmless(std::string_view key, const JsonFields& config, const HfModelType& type) {
  if (is_of_its_layers(key, config, type) || is_harmless_here(key, config, type)) return true;
  const auto is_in_key = [key](std::string_view word) {
    return key.find(word) != std::string_view::npos;
  };
  const auto begins_key = [key](std::string_view prefix) { return key.starts_with(prefix); };
  if (std::ranges::find(kHarmless, key) != std::end(kHarmless)) return true;
  if (std::ranges::any_of(kHarmlessWords, is_in_key)) return true;
  // A window that the config switches off, or that its type takes only with the switch.
  if (key == "sliding_window") {
    return config.is_false("use_sliding_window") || type.rule == HfLayerRule::kWindowFrom ||
           type.rule == HfLayerRule::kWindowByFlag;
  }
  // Falcon's second generation states its KV heads instead.
  if (key == "multi_query") return type.kv_rule == HfKvRule::kFalcon;
  // Grok 2: every layer is a global one.
  if (key == "global_attn_every_n") return config.whole(key, 1, kMaxLayers) == 1;
  const bool has_state_space =
      type.linear_sort == LinearSort::kMamba || type.linear_sort == LinearSort::kMamba2;
  return has_state_space && std::ranges::any_of(kStateSpacePrefixes, begins_key);
}

}  // namespace

void refuse_unknown_keys(const JsonFields& config, const HfModelType& type,
                         std::span<const std::string> ignored) {
  for (const std::string& key : ignored) {
    if (!config.has(key)) {
      throw ConfigError(fmt::format("there is no key {} to ignore", shown(key)));
    }
  }
  std::vector<std::string> unknown;
  for (const std::string& key : config.unread_keys()) {
    if (config.says_none(key) || is_harmless(key, config, type)) continue;
    unknown.push_back(config.path_of(key));
  }
  if (unknown.empty()) return;
  constexpr std::size_t kMostShown = 8;
  const std::size_t shown_keys = std::min(unknown.size(), kMostShown);
  std::string list;
  for (std::size_t i = 0; i < shown_keys; ++i) list += (i > 0 ? ", " : "") + shown(unknown[i]);
  if (unknown.size() > shown_keys) list += fmt::format(" and {} more", unknown.size() - shown_keys);
  throw ConfigError(fmt::format(
      "attnbench does not know {}: the attention may depend on {}. If it does not, remove {} from "
      "the file, or name {} in a scenario, model: {{hf_config: …, ignore: […]}}",
      list, unknown.size() == 1 ? "it" : "them", unknown.size() == 1 ? "the key" : "the keys",
      unknown.size() == 1 ? "it" : "them"));
}

}  // namespace attnbench
