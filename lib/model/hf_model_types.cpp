// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_model_types.h"

#include <algorithm>
#include <map>
#include <vector>

#include "lib/base/embedded_file.h"
#include "lib/config/data_row.h"

namespace attnbench {

/// data/hf_model_types.yaml, compiled in.
std::span<const EmbeddedFile> embedded_hf_model_types();

namespace {

constexpr std::string_view kLayerRuleWords[] = {"full",
                                                "window",
                                                "window_from",
                                                "window_by_flag",
                                                "window_except_nth",
                                                "chunked_except_nth",
                                                "linear_except_nth",
                                                "indexed_every_nth",
                                                "full_except_nth",
                                                "linear_except_listed",
                                                "by_attn_type_list",
                                                "full_by_period",
                                                "by_pattern",
                                                "sparse",
                                                "by_compress_ratios",
                                                "cross_listed",
                                                "cross_beside_each"};
constexpr std::string_view kAlsoFullWords[] = {"none", "first", "last"};
constexpr std::string_view kOwnHeadsWords[] = {"none", "global", "swa"};
constexpr std::string_view kKvRuleWords[] = {"stated", "as_heads", "falcon", "chat_glm"};

void read_names(DataRow& row, std::string_view key, HfNames& names) {
  std::vector<std::string> given = {names.first};
  row.read(key, given);
  given.resize(2);
  names = {given[0], given[1]};
}

HfModelType read_type(const YamlEntry& entry, Problems& problems) {
  HfModelType type;
  type.model_type = entry.key;
  DataRow row(*entry.value, problems);
  row.read("source", type.source);
  row.read("states_all", type.states_all);
  row.read("layers", type.layers);
  row.read("heads_q", type.heads_q);
  row.read("heads_kv", type.heads_kv);
  row.read("hidden_size", type.hidden_size);
  row.read("head_dim", type.head_dim);
  row.read("query_pre_attn_scalar", type.query_pre_attn_scalar);
  row.read("attention_multiplier", type.attention_multiplier);
  row.read("softcap", type.softcap);
  row.read("sliding_window", type.sliding_window);
  row.read("attention_chunk", type.attention_chunk);
  row.read("rule", type.rule, kLayerRuleWords);
  row.read("nth", type.nth);
  row.read("nth_key", type.nth_key);
  row.read("offset", type.offset);
  row.read("also_full", type.also_full, kAlsoFullWords);
  row.read("own_heads", type.own_heads, kOwnHeadsWords);
  row.read("shares_kv", type.shares_kv);
  row.read("kv_shared_layers", type.kv_shared_layers);
  row.read("has_layer_types", type.has_layer_types);
  row.read("kv_rule", type.kv_rule, kKvRuleWords);
  row.read("encoder_len", type.encoder_len);
  row.read("sinks", type.sinks);
  row.read("kv_lora_rank", type.kv_lora_rank);
  row.read("qk_nope_head_dim", type.qk_nope_head_dim);
  row.read("qk_rope_head_dim", type.qk_rope_head_dim);
  row.read("v_head_dim", type.v_head_dim);
  row.read("index_topk", type.index_topk);
  row.read("index_n_heads", type.index_n_heads);
  row.read("index_pool", type.index_pool);
  row.read("linear_attention", type.linear_kind, kLinearAttentionKindWords);
  row.read("linear_num_key_heads", type.linear_num_key_heads);
  row.read("linear_num_value_heads", type.linear_num_value_heads);
  row.read("linear_key_head_dim", type.linear_key_head_dim);
  row.read("linear_value_head_dim", type.linear_value_head_dim);
  row.read("yarn_scales_softmax", type.yarn_scales_softmax);
  read_names(row, "layers_names", type.layers_names);
  read_names(row, "heads_q_names", type.heads_q_names);
  read_names(row, "heads_kv_names", type.heads_kv_names);
  read_names(row, "hidden_names", type.hidden_names);
  read_names(row, "head_dim_names", type.head_dim_names);
  row.refuse_others();
  return type;
}

struct Table {
  std::vector<HfModelType> types;
  std::map<std::string, std::string, std::less<>> text_types;
};

const Table& table() {
  static const Table read = [] {
    Table table;
    read_data(embedded_hf_model_types().front().text, "hf_model_types.yaml",
              [&](const YamlNode& root, Problems& problems) {
                DataRow sections(root, problems);
                for (const YamlEntry& entry : map_entries(sections.at("types"), problems)) {
                  table.types.push_back(read_type(entry, problems));
                }
                for (const YamlEntry& entry : map_entries(sections.at("text_types"), problems)) {
                  table.text_types.emplace(entry.key, entry.value->text);
                }
                sections.refuse_others();
              });
    return table;
  }();
  return read;
}

}  // namespace

std::span<const std::string_view> hf_layer_rule_words() { return kLayerRuleWords; }

std::span<const HfModelType> hf_model_types() { return table().types; }

const HfModelType* find_hf_model_type(std::string_view model_type) {
  const auto& types = table().types;
  const auto found = std::ranges::find(types, model_type, &HfModelType::model_type);
  return found == types.end() ? nullptr : &*found;
}

std::string_view hf_text_model_type(std::string_view outer) {
  const auto found = table().text_types.find(outer);
  return found == table().text_types.end() ? std::string_view() : found->second;
}

}  // namespace attnbench
