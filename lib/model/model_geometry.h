// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/model/attention_layer.h"

namespace attnbench {

/// Attention geometry of a whole model, before tensor parallelism. Presets live in
/// scenarios/models.
struct ModelGeometry {
  std::string name;
  int layers = 0;
  int heads_q = 0;
  int heads_kv = 0;
  int head_dim = 0;
  int head_dim_v = 0;  ///< 0: as head_dim
  /// Gemma scales by 1/sqrt(this); 0: by 1/sqrt(head_dim).
  double query_pre_attn_scalar = 0;
  double softcap = 0;                ///< 0: none
  std::int64_t sliding_window = 0;   ///< keys of a window layer, the query's own included; 0: none
  std::string window_layers;         ///< "all", or which layers slide, in words
  std::int64_t attention_chunk = 0;  ///< Llama-4's local layers; 0: none
  bool sinks = false;
  // Multi-head latent attention; all 0 for every other model.
  int kv_lora_rank = 0;
  int qk_nope_head_dim = 0;
  int qk_rope_head_dim = 0;
  bool verified = false;  ///< figures were read in the model's published config
  std::string notes;

  [[nodiscard]] bool is_mla() const { return kv_lora_rank > 0; }
};

/// Names of all presets, sorted.
[[nodiscard]] std::vector<std::string> model_names();

/// Null when there is no such preset.
[[nodiscard]] const ModelGeometry* find_model(std::string_view name);

/// Reads a Hugging Face config.json (Llama, Qwen, Gemma, gpt-oss, DeepSeek fields).
/// Throws ConfigError naming the file and the missing or odd field.
[[nodiscard]] ModelGeometry model_from_hf_config(const std::string& path);

/// Parses one preset file; strict: an unknown key is a ConfigError. `name` is the preset's.
[[nodiscard]] ModelGeometry parse_model(std::string_view text, const std::string& name);

/// The layer that one of `tp` ranks computes: query heads divide, KV heads divide or replicate.
/// MLA gives the absorbed form: one KV row of kv_lora_rank + rope, V its first kv_lora_rank
/// columns, scale 1/sqrt(nope + rope).
///
/// A preset describes its full-attention layer: its window applies by default only where all layers
/// slide (window_layers "all"); softcap and sinks always apply.
/// Throws ConfigError with a plain message when the heads do not divide.
[[nodiscard]] AttentionLayer layer_of(const ModelGeometry& model, int tp);

}  // namespace attnbench
