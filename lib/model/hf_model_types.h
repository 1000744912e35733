// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lib/model/linear_attention_kind.h"

namespace attnbench {

/// Names under which a config.json may keep one figure; those that are absent do not count, and
/// those that are present must agree.
struct HfNames {
  std::string first;
  std::string second = {};
};

/// Which layers are of which kind when the config has no `layer_types`. Layers count from 0 here.
enum class HfLayerRule : std::uint8_t {
  kFull,                ///< every layer is full
  kWindow,              ///< every layer slides, if there is a window
  kWindowFrom,          ///< layers from max_window_layers on slide, with use_sliding_window
  kWindowByFlag,        ///< every layer slides, with use_sliding_window
  kWindowExceptNth,     ///< every nth layer is full, the others slide
  kChunkedExceptNth,    ///< every nth layer is full, the others are chunked (no_rope_layers)
  kLinearExceptNth,     ///< every nth layer is full, the others are linear
  kIndexedEveryNth,     ///< every nth layer has an indexer of pools, the others are linear
  kFullExceptNth,       ///< every nth layer is linear, the others are full
  kLinearExceptListed,  ///< linear_attn_config lists the full layers; without it 4, 8, 12 … are
  kByAttnTypeList,      ///< attn_type_list: 1 full, 0 linear
  kFullByPeriod,        ///< layer i is full where i % attn_layer_period is attn_layer_offset, else
                        ///< linear
  kByPattern,           ///< hybrid_override_pattern: '*' full, 'M' linear, 'E' and '-' no mixing of
                        ///< tokens; or layers_block_type, the same in words
  kSparse,              ///< every layer takes the keys that an indexer picks
  /// compress_ratios says 0 for a sliding, 4 for a sparse and 128 for a compressed layer; without
  /// it the first two are compressed, then each second one is sparse
  kByCompressRatios,
  kCrossListed,     ///< cross_attention_layers lists the cross layers, the others are full
  kCrossBesideEach  ///< a decoder's layers, each a full and a cross one
};

/// How many KV heads there are.
enum class HfKvRule : std::uint8_t {
  kStated,   ///< the field says so
  kAsHeads,  ///< as many as query heads, always
  kFalcon,   ///< 1 with multi_query, unless new_decoder_architecture
  kChatGlm   ///< multi_query_group_num with multi_query_attention, else as many as query heads
};

/// Which layers are full beside every nth.
enum class HfAlsoFull : std::uint8_t { kNone, kFirst, kLast };

/// How a type says that its sliding layers have other heads than its full ones.
enum class HfOwnHeads : std::uint8_t {
  kNone,
  kGlobal,  ///< Gemma 4: global_head_dim and num_global_key_value_heads are of full layers
  kSwa      ///< MiMo-V2: swa_num_key_value_heads, swa_head_dim … are of sliding layers
};

/// One model type: under which names its config.json keeps each figure, and the meaning of an
/// absent field.
struct HfModelType {
  std::string model_type;
  std::string source;       ///< of the defaults
  bool states_all = false;  ///< no defaults: the config must state layers, heads and dims
  // Defaults of absent fields. 0 has a meaning of its own where one is named.
  int layers = 0;
  int heads_q = 0;
  int heads_kv = 0;  ///< 0: as many as query heads
  int hidden_size = 0;
  int head_dim = 0;                  ///< 0: hidden_size / heads_q
  int query_pre_attn_scalar = 0;     ///< 0: the type has no such field
  double attention_multiplier = 0;   ///< 0: the type has no such field
  double softcap = 0;                ///< 0: the type has no such field
  std::int64_t sliding_window = 0;   ///< 0: none
  std::int64_t attention_chunk = 0;  ///< 0: none
  HfLayerRule rule = HfLayerRule::kFull;
  int nth = 0;                               ///< of the rules that count
  std::string nth_key = {};                  ///< the field that states it; empty: the type has none
  int offset = 0;                            ///< of kFullByPeriod
  HfAlsoFull also_full = HfAlsoFull::kNone;  ///< of kWindowExceptNth
  HfOwnHeads own_heads = HfOwnHeads::kNone;
  bool shares_kv = false;        ///< it has num_kv_shared_layers
  int kv_shared_layers = 0;      ///< its default
  bool has_layer_types = false;  ///< transformers reads `layer_types` for this type
  HfKvRule kv_rule = HfKvRule::kStated;
  std::int64_t encoder_len = 0;  ///< max_source_positions; 0: the type has no such field
  bool sinks = false;
  int kv_lora_rank = 0;  ///< 0: no latent attention
  int qk_nope_head_dim = 0;
  int qk_rope_head_dim = 0;
  int v_head_dim = 0;  ///< 0: no default is known; of plain heads: as head_dim
  int index_topk = 0;  ///< 0: its layers have no indexer
  int index_n_heads = 0;
  int index_pool = 0;  ///< keys that are scored as one; index_topk counts keys, too
  /// What its linear layers compute; of delta nets its config names the heads and dims.
  LinearAttentionKind linear_kind = LinearAttentionKind::kUnknown;
  int linear_num_key_heads = 0;  ///< 0 here and below: of another sort
  int linear_num_value_heads = 0;
  int linear_key_head_dim = 0;
  int linear_value_head_dim = 0;
  bool yarn_scales_softmax = false;  ///< its attention multiplies the scale by mscale^2
  HfNames layers_names = {"num_hidden_layers"};
  HfNames heads_q_names = {"num_attention_heads"};
  HfNames heads_kv_names = {"num_key_value_heads"};
  HfNames hidden_names = {"hidden_size"};
  HfNames head_dim_names = {"head_dim"};
};

/// Words of HfLayerRule in data files, in the order of its enumerators: "window_from".
[[nodiscard]] std::span<const std::string_view> hf_layer_rule_words();

/// Null for a type that data/hf_model_types.yaml does not list.
[[nodiscard]] const HfModelType* find_hf_model_type(std::string_view model_type);

[[nodiscard]] std::span<const HfModelType> hf_model_types();

/// The type of a multimodal config's `text_config` when that does not name its own; "" if unknown.
[[nodiscard]] std::string_view hf_text_model_type(std::string_view outer);

}  // namespace attnbench
