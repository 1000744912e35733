// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/model/attention_layer.h"
#include "lib/model/layer_kind.h"
#include "lib/model/linear_attention_kind.h"

namespace attnbench {

// What a preset, a config.json and an inline model may state: far beyond every published model, and
// small enough that heads x dims x tokens stays inside 64 bits.
inline constexpr std::int64_t kMaxHeads = 4096;
inline constexpr std::int64_t kMaxHeadDim = 4096;
inline constexpr std::int64_t kMaxLayers = 4096;
inline constexpr std::int64_t kMaxWindow = 2147483647;

/// YaRN (arXiv:2309.00071) as far as it reaches the softmax scale of latent attention.
struct YarnScaling {
  double factor = 1;          ///< of the context's length; 1: no YaRN
  double mscale_all_dim = 0;  ///< 0: the softmax scale stays as it is

  /// What the softmax scale is multiplied by: (0.1 mscale_all_dim ln factor + 1)^2, as in
  /// transformers' yarn_apply_mscale (models/deepseek_v3/modeling_deepseek_v3.py).
  [[nodiscard]] double softmax_factor() const;
  bool operator==(const YarnScaling&) const = default;
};

/// Heads and dims of one kind of layers, where they are not those of the others. 0: as theirs.
struct OwnHeads {
  int heads_q = 0;
  int heads_kv = 0;
  int head_dim = 0;
  int head_dim_v = 0;
  bool sinks = false;  ///< only this kind has sinks
  bool operator==(const OwnHeads&) const = default;
};

/// Attention geometry of a whole model, before tensor parallelism. Presets live in
/// scenarios/models.
struct ModelGeometry {
  std::string name;
  int layers = 0;
  LayerCounts kinds;  ///< sum: layers
  /// Of these, layers that read the keys and values of an earlier layer of their kind and write
  /// none (Gemma 3n).
  LayerCounts kv_shared;
  int heads_q = 0;
  int heads_kv = 0;
  int head_dim = 0;
  int head_dim_v = 0;  ///< 0: as head_dim; latent attention: after the up-projection, 0: unknown
  OwnHeads sliding;    ///< of the sliding layers (Gemma 4, MiMo-V2, Step 3.7)
  /// Gemma scales by 1/sqrt(this); 0: by 1/sqrt(head_dim).
  double query_pre_attn_scalar = 0;
  double attention_multiplier = 0;  ///< Granite scales by this itself; 0: by a root as above
  double softcap = 0;               ///< 0: none
  /// Keys of a sliding layer, the query's own included, and of layers with compressed rows; 0:
  /// none.
  std::int64_t sliding_window = 0;
  std::int64_t attention_chunk = 0;  ///< keys of a chunked layer's chunk; 0: none
  DualChunk dual_chunk;              ///< of the full layers
  std::int64_t temperature_len = 0;  ///< Grok's, of all layers; 0: none
  bool sinks = false;
  bool alibi = false;
  bool multimodal = false;  ///< it has a tower for images or sound, too
  /// Tokens of an encoder's output where a request does not say otherwise: 1500 of Whisper, 6404 of
  /// an image in Llama 3.2 Vision. 0: each request says.
  std::int64_t encoder_len = 0;
  // Multi-head latent attention; all 0 for every other model.
  int kv_lora_rank = 0;
  int qk_nope_head_dim = 0;
  int qk_rope_head_dim = 0;
  /// Keys that the indexer of a sparse layer takes for each query (DeepSeek-V3.2), and its query
  /// heads. 0: unknown, or there are no such layers.
  int index_topk = 0;
  int index_n_heads = 0;
  /// Keys of a block that the indexer scores by its maximum, one of its heads for each KV head, and
  /// of which index_topk are taken (MiniMax-M3: 128); 0: it takes single keys.
  int index_block = 0;
  /// Keys of a pool that the indexer scores as one, and of which index_topk are taken beside those
  /// of the pool that is not complete yet (GLM-5.3-Flash: 16); 0: it scores single keys.
  int index_pool = 0;
  // Tokens of a compressed row (DeepSeek-V4, AttentionLayer::compress_ratio): of the compressed
  // layers, which see all rows, and of the sparse ones, which take index_topk. 0: there are none.
  int compress_ratio = 0;
  int index_compress_ratio = 0;
  /// How many sparse layers have no indexer: they attend to the keys that an earlier one
  /// took (GLM-5.2).
  int index_shared = 0;
  LinearAttentionKind linear_kind = LinearAttentionKind::kUnknown;  ///< of the linear layers
  // Heads and dims of linear layers that can be run; all 0 where they are unknown.
  int linear_num_key_heads = 0;  ///< of queries too
  int linear_num_value_heads = 0;
  int linear_key_head_dim = 0;
  int linear_value_head_dim = 0;
  /// Taps of the causal convolution before a delta net (1: none), whose last taps - 1 inputs stay
  /// in memory for each request; 4 is transformers' default
  /// (qwen3_next/configuration_qwen3_next.py).
  int linear_conv_kernel_dim = 4;
  /// Of latent attention alone. Models with plain heads multiply cos and sin by YaRN's attention
  /// factor instead, so their queries and keys carry it before attention begins.
  YarnScaling yarn;
  bool verified = false;  ///< figures were read in the model's published config
  std::string notes;

  [[nodiscard]] bool is_mla() const { return kv_lora_rank > 0; }
  void add_note(std::string_view note);
  /// Tokens of a compressed row in a layer of `kind`.
  [[nodiscard]] int compress_ratio_of(LayerKind kind) const {
    if (kind == LayerKind::kSparse) return index_compress_ratio;
    return kind == LayerKind::kCompressed ? compress_ratio : 0;
  }
  [[nodiscard]] bool has_delta_net() const { return linear_num_key_heads > 0; }
  bool operator==(const ModelGeometry&) const = default;
};

/// How latent attention is computed (DeepSeek-V2, arXiv:2405.04434, section 2.1). Both forms give
/// the same results up to the projections before and behind them.
enum class MlaForm : std::uint8_t {
  kAbsorbed,  ///< queries are projected to the latent rows, which serve as keys and values
  kExpanded,  ///< latent rows are projected to keys and values for every head
  kComposed,  ///< requests of one query token absorbed, all others expanded: a step of an engine
};

/// Names of all presets, sorted.
[[nodiscard]] std::vector<std::string> model_names();

/// Null when there is no such preset.
[[nodiscard]] const ModelGeometry* find_model(std::string_view name);

/// Parses one preset file; strict: an unknown key is a ConfigError. `name` is the preset's.
[[nodiscard]] ModelGeometry parse_model(std::string_view text, const std::string& name);

/// The kind of layer to run: the one that was asked for, or the only sensible one. A model stands
/// for its sparse layers, else for its full ones, or for its sliding ones where all slide. Where
/// what a sparse layer's indexer takes is unknown, nothing goes without saying: `layer: full` must
/// be asked for. Throws ConfigError, with a hint, for that and for a kind that the model has not.
[[nodiscard]] LayerKind kind_to_run(const ModelGeometry& model, std::optional<LayerKind> asked);

/// The kinds of layers that the model has and attnbench can run as they are.
[[nodiscard]] std::vector<LayerKind> runnable_kinds(const ModelGeometry& model);

/// What to know about running `kind` of this model: the layers left out, then the preset's notes.
/// Empty when there is nothing to say.
[[nodiscard]] std::string notes_on(const ModelGeometry& model, LayerKind kind);

/// The model with the heads and dims that its layers of `kind` have.
[[nodiscard]] ModelGeometry with_heads_of(ModelGeometry model, LayerKind kind);

/// The layer of `kind` that one of `tp` ranks computes: query heads divide, KV
/// heads divide or replicate. MLA absorbed: one KV row of kv_lora_rank + rope, V its first
/// kv_lora_rank columns; expanded: as many KV heads as query heads, dk nope + rope, dv head_dim_v.
/// Its scale is yarn / sqrt(nope + rope) in both forms; other models and linear layers have no
/// forms. Softcap and sinks always apply. Throws ConfigError with a plain message when the heads do
/// not divide, and when the expanded form's head_dim_v is unknown.
[[nodiscard]] AttentionLayer layer_of(const ModelGeometry& whole, LayerKind kind, int tp,
                                      MlaForm form = MlaForm::kAbsorbed);

}  // namespace attnbench
