// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <span>

#include "lib/base/embedded_file.h"
#include "lib/base/error.h"
#include "lib/config/data_row.h"
#include "lib/model/model_geometry.h"

namespace attnbench {

/// scenarios/models/*.yaml, compiled in.
std::span<const EmbeddedFile> embedded_models();

namespace {

using Presets = std::map<std::string, ModelGeometry, std::less<>>;

const Presets& presets() {
  static const Presets parsed = [] {
    Presets models;
    for (const EmbeddedFile& file : embedded_models()) {
      std::string name(file.stem);
      models.emplace(name, parse_model(file.text, name));
    }
    return models;
  }();
  return parsed;
}

ModelGeometry read_model(const YamlNode& root, Problems& problems) {
  constexpr std::string_view kStatusWords[] = {"not checked", "verified"};
  constexpr std::string_view kScalingWords[] = {"yarn"};
  enum class Scaling { kYarn };
  enum class Status { kNotChecked, kVerified };

  ModelGeometry m;
  DataRow row(root, problems);
  row.read("layers", m.layers);
  if (const YamlNode* counts = row.find("layer_kinds")) {
    DataRow kinds(*counts, problems);
    for (std::size_t i = 0; i < kLayerKinds.size(); ++i) {
      kinds.read(kLayerKindWords[i], m.kinds[kLayerKinds[i]]);
    }
    kinds.refuse_others();
  }
  row.read("heads_q", m.heads_q);
  row.read("heads_kv", m.heads_kv);
  row.read("head_dim", m.head_dim);
  row.read("head_dim_v", m.head_dim_v);
  if (const YamlNode* heads = row.find("sliding")) {
    DataRow own(*heads, problems);
    own.read("heads_q", m.sliding.heads_q);
    own.read("heads_kv", m.sliding.heads_kv);
    own.read("head_dim", m.sliding.head_dim);
    own.read("head_dim_v", m.sliding.head_dim_v);
    own.read("sinks", m.sliding.sinks);
    own.refuse_others();
  }
  row.read("query_pre_attn_scalar", m.query_pre_attn_scalar);
  row.read("softcap", m.softcap);
  row.read("sliding_window", m.sliding_window);
  row.read("attention_chunk", m.attention_chunk);
  row.read("sinks", m.sinks);
  row.read("multimodal", m.multimodal);
  row.read("encoder_len", m.encoder_len);
  row.read("kv_lora_rank", m.kv_lora_rank);
  row.read("qk_nope_head_dim", m.qk_nope_head_dim);
  row.read("qk_rope_head_dim", m.qk_rope_head_dim);
  row.read("index_topk", m.index_topk);
  row.read("index_n_heads", m.index_n_heads);
  row.read("index_block", m.index_block);
  row.read("index_pool", m.index_pool);
  row.read("compress_ratio", m.compress_ratio);
  row.read("index_compress_ratio", m.index_compress_ratio);
  row.read("index_shared", m.index_shared);
  row.read("linear_num_key_heads", m.linear_num_key_heads);
  row.read("linear_num_value_heads", m.linear_num_value_heads);
  row.read("linear_key_head_dim", m.linear_key_head_dim);
  row.read("linear_value_head_dim", m.linear_value_head_dim);
  row.read("linear_conv_kernel_dim", m.linear_conv_kernel_dim);
  // The geometry of a preset never has state-space layers.
  row.read("linear_attention", m.linear_kind, std::span(kLinearAttentionKindWords).first(4));
  if (const YamlNode* scaling = row.find("rope_scaling")) {
    DataRow yarn(*scaling, problems);
    Scaling type = Scaling::kYarn;
    yarn.read("type", type, kScalingWords);
    yarn.read("factor", m.yarn.factor);
    yarn.read("mscale_all_dim", m.yarn.mscale_all_dim);
    yarn.refuse_others();
  }
  Status status = Status::kNotChecked;
  row.read("status", status, kStatusWords);
  m.verified = status == Status::kVerified;
  row.read("notes", m.notes);
  row.refuse_others();
  return m;
}

/// What is missing or does not fit together; empty when the geometry is whole.
std::string flaw_of(const ModelGeometry& m) {
  const bool dims = m.is_mla() ? m.qk_nope_head_dim > 0 && m.qk_rope_head_dim >= 0
                               : m.heads_kv > 0 && m.head_dim > 0;
  if (m.heads_q <= 0 || !dims) return "heads or dims are missing";
  if (m.kinds.total() != m.layers) return "layer_kinds do not add up to layers";
  if ((m.kinds[LayerKind::kCompressed] > 0) != (m.compress_ratio > 0) ||
      m.index_compress_ratio < 0 || (m.index_compress_ratio > 0 && m.index_topk == 0)) {
    return "compressed layers and compress_ratio belong together, as index_compress_ratio and "
           "index_topk do";
  }
  const bool compresses = m.compress_ratio > 0 || m.index_compress_ratio > 0;
  if (compresses && !m.is_mla()) return "compressed rows are of latent attention";
  if ((m.kinds[LayerKind::kSliding] > 0 || compresses) != (m.sliding_window > 0)) {
    return "sliding layers and sliding_window belong together";
  }
  if (m.sliding != OwnHeads{} && (m.is_mla() || m.kinds[LayerKind::kSliding] == 0)) {
    return "heads of sliding layers are of a model that has such layers, with keys and values";
  }
  if ((m.kinds[LayerKind::kChunked] > 0) != (m.attention_chunk > 0)) {
    return "chunked layers and attention_chunk belong together";
  }
  if (m.encoder_len < 0 || (m.encoder_len > 0 && m.kinds[LayerKind::kCross] == 0)) {
    return "encoder_len is of cross layers";
  }
  if ((m.index_topk > 0) != (m.index_n_heads > 0) ||
      (m.index_topk > 0 && m.kinds[LayerKind::kSparse] == 0)) {
    return "index_topk and index_n_heads belong together, and to sparse layers";
  }
  if (m.index_block < 0 ||
      (m.index_block > 0 && (m.index_topk == 0 || m.is_mla() || m.index_n_heads != m.heads_kv))) {
    return "index_block is of an index_topk, and of an index head for each KV head";
  }
  if (m.index_pool < 0 || (m.index_pool > 0 && (m.index_topk == 0 || m.index_block > 0 ||
                                                m.index_compress_ratio > 0))) {
    return "index_pool is of an index_topk, without index_block and index_compress_ratio";
  }
  if (m.index_shared != 0 &&
      (m.index_shared < 0 || m.index_topk == 0 || m.index_shared >= m.kinds[LayerKind::kSparse])) {
    return "index_shared are some of the sparse layers with an index_topk, and not all";
  }
  const bool all = m.linear_num_key_heads > 0 && m.linear_num_value_heads > 0 &&
                   m.linear_key_head_dim > 0 && m.linear_value_head_dim > 0;
  const bool any = m.linear_num_key_heads > 0 || m.linear_num_value_heads > 0 ||
                   m.linear_key_head_dim > 0 || m.linear_value_head_dim > 0;
  if (any && (!all || m.kinds[LayerKind::kLinear] == 0)) {
    return "linear layers, their heads and their dims belong together";
  }
  if ((m.kinds[LayerKind::kLinear] > 0) != (m.linear_kind != LinearAttentionKind::kUnknown)) {
    return "linear layers and linear_attention belong together";
  }
  return "";
}

}  // namespace

ModelGeometry parse_model(std::string_view text, const std::string& name) {
  ModelGeometry model;
  read_data(text, name + ".yaml",
            [&](const YamlNode& root, Problems& problems) { model = read_model(root, problems); });
  model.name = name;
  if (model.kinds.total() == 0) model.kinds = LayerCounts(LayerKind::kFull, model.layers);
  if (const std::string flaw = flaw_of(model); !flaw.empty()) {
    throw ConfigError(fmt::format("model preset {}: {}", name, flaw));
  }
  return model;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& entry : presets()) names.push_back(entry.first);
  return names;
}

const ModelGeometry* find_model(std::string_view name) {
  const auto found = presets().find(name);
  return found == presets().end() ? nullptr : &found->second;
}

}  // namespace attnbench
