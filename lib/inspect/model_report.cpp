// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/model_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "lib/base/int_math.h"
#include "lib/base/printable.h"
#include "lib/view/json.h"
#include "lib/view/table.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

constexpr std::size_t kWidthOfModel = 100;

/// The model's attention with heads, which its linear layers have not.
AttentionLayer head_layer(const ModelQuestion& q) {
  const auto with_heads =
      std::ranges::find_if(q.memory.kinds, [](const LayerMemory& m) { return !m.is_linear(); });
  return (with_heads == q.memory.kinds.end() ? q.memory.kinds.front() : *with_heads).layer;
}

/// "5 of 40 query heads, 1 of 8 KV heads", and where a KV head is on several ranks, that.
std::string heads_text(const ModelQuestion& q, const AttentionLayer& layer,
                       const ModelGeometry& model) {
  std::string text = fmt::format("{} of {} query heads, ", layer.heads_q, model.heads_q);
  if (layer.shares_row_of_k_and_v()) {
    return text + fmt::format("one latent row of {} for all heads, the same on every rank",
                              layer.head_dim_qk);
  }
  text += fmt::format("{} of {} KV heads", layer.heads_kv, model.heads_kv);
  if (q.memory.tp > model.heads_kv) {
    text += fmt::format(" (each is replicated on {} ranks)", q.memory.tp / model.heads_kv);
  }
  return text + fmt::format(", dk {} dv {}", layer.head_dim_qk, layer.head_dim_v);
}

/// What a rank has of each kind of layers that has heads of its own.
std::string rank_text(const ModelQuestion& q) {
  const LayerMemory* sliding = nullptr;
  for (const LayerMemory& each : q.memory.kinds) {
    if (each.kind == LayerKind::kSliding) sliding = &each;
  }
  const bool all_slide = q.memory.kinds.size() == 1 && sliding != nullptr;
  const ModelGeometry shown =
      with_heads_of(q.model, all_slide ? LayerKind::kSliding : LayerKind::kFull);
  std::string text = fmt::format("one rank: {}\n", heads_text(q, head_layer(q), shown));
  if (q.model.sliding == OwnHeads{} || all_slide) return text;
  return text +
         fmt::format("sliding layers: {}\n",
                     heads_text(q, sliding->layer, with_heads_of(q.model, LayerKind::kSliding)));
}

/// Of latent attention, what `mla: expanded` runs; empty for all else. The cache stays as it is.
std::string expanded_text(const ModelQuestion& q) {
  if (!q.model.is_mla() || q.model.head_dim_v == 0) return "";
  const AttentionLayer layer = layer_of(q.model, LayerKind::kFull, q.memory.tp, MlaForm::kExpanded);
  return fmt::format("expanded (`mla: expanded`): {} KV heads, dk {} dv {}, from the same rows\n",
                     layer.heads_kv, layer.head_dim_qk, layer.head_dim_v);
}

/// What a row of the cache is; how rows lie takes no memory.
std::string_view rows_text(const CacheFormat& format) {
  return are_of_blocks(format.scales) ? kDsMlaRows : to_string(format.dtype);
}

/// A token's part of compressed rows need not be whole: "90.75".
std::string part_text(double bytes) {
  std::string text = fmt::format("{:.2f}", bytes);
  return text.ends_with(".00") ? text.substr(0, text.size() - 3) : text;
}

std::string kept_text(const LayerMemory& memory) {
  if (memory.is_linear()) {
    if (!memory.state_bytes) return "a state of unknown size";
    return fmt::format("{} B of states, {} B of convolution", *memory.state_bytes,
                       *memory.convolution_bytes);
  }
  if (memory.is_cross()) {
    return memory.encoder_len ? fmt::format("{} tokens of its encoder", *memory.encoder_len)
                              : std::string("its encoder's tokens");
  }
  std::string text = memory.most_tokens ? fmt::format("{} tokens at most", *memory.most_tokens)
                                        : std::string("every token");
  if (memory.compress_ratio > 0) {
    text += fmt::format(", a row of each {}", memory.compress_ratio);
  }
  if (memory.indexers > 0) {
    text += fmt::format(
        "; {} B of index keys{}{}", memory.index_row_bytes,
        memory.index_row_keys > 1 ? fmt::format(" of each {}", memory.index_row_keys) : " a token",
        memory.indexers < memory.layers ? fmt::format(" in {} layers", memory.indexers)
                                        : std::string());
  }
  if (memory.kv_shared > 0) text += fmt::format("; {} layers nothing", memory.kv_shared);
  return text;
}

std::string of_request_text(const ModelQuestion& q, const LayerMemory& memory) {
  if (!q.context) return "";
  const auto bytes = memory.request_bytes_of_all(*q.context, q.memory.format.page_size);
  return bytes ? bytes_text(*bytes) : "?";
}

Table kinds_table(const ModelQuestion& q) {
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  Table table{.columns = {{"kind", kLeft, 2, 8},
                          {"layers", kRight, 1},
                          {"attnbench", kLeft},
                          {"B a token", kRight, 1, 10},
                          {"a request keeps, in one layer", kLeft, 2, 42},
                          {q.context ? fmt::format("{} tokens, all layers", *q.context) : ""}}};
  for (const LayerMemory& each : q.memory.kinds) {
    table.rows.push_back(
        {{std::string(to_string(each.kind)), std::to_string(each.layers),
          each.runs ? "runs" : "not yet", each.is_linear() ? "" : part_text(each.growth()),
          kept_text(each), of_request_text(q, each)}});
  }
  return table;
}

bool has_cross(const ModelQuestion& q) { return q.model.kinds[LayerKind::kCross] > 0; }

bool lacks_encoder_len(const ModelQuestion& q) {
  return std::ranges::any_of(q.memory.kinds,
                             [](const LayerMemory& m) { return m.is_cross() && !m.encoder_len; });
}

void write_capacity(const ModelQuestion& q, std::ostream& out) {
  if (q.context) {
    const auto bytes = q.memory.request_bytes(*q.context);
    out << (bytes ? fmt::format("a request of {} tokens: {} on a rank\n", *q.context,
                                bytes_text(*bytes))
                  : fmt::format("a request of {} tokens: not known, as its {}\n", *q.context,
                                lacks_encoder_len(q) ? "encoder's length is not: --encoder-len"
                                                     : "linear layers' states are not"));
  }
  const auto in_one_row = q.one_row_bytes();
  if (in_one_row) {
    out << fmt::format("  in SGLang at least {}: every layer has slots for both kinds of tokens\n",
                       bytes_text(*in_one_row));
  }
  const auto left = q.bytes_for_cache();
  if (!left) return;
  std::string_view at_most;
  if (q.weight_bytes) {
    out << fmt::format("{} of GPU memory, {} of weights: {}\n", bytes_text(*q.gpu_bytes),
                       bytes_text(ceil_div(*q.weight_bytes, q.memory.tp)),
                       *left > 0 ? bytes_text(*left) + " for the cache of a rank"
                                 : "no room for the cache of a rank");
  } else {
    out << fmt::format(
        "{} of GPU memory without any weights, an upper bound; --weights says what they take\n",
        bytes_text(*q.gpu_bytes));
    at_most = "at most ";
  }
  if (const auto tokens = q.tokens_that_fit()) {
    out << fmt::format("  {}{} tokens, if every layer with keys keeps all of them{}\n", at_most,
                       *tokens, has_cross(q) ? ", and no encoder's" : "");
  }
  if (const auto requests = q.requests_that_fit()) {
    const std::string in_sglang =
        in_one_row ? fmt::format(", in SGLang at most {}", *left / *in_one_row) : std::string();
    out << fmt::format("  {}{} requests of {} tokens{}\n", at_most, *requests, *q.context,
                       in_sglang);
  }
}

Json whole_or_double(double bytes) {
  if (bytes == std::floor(bytes)) return static_cast<std::int64_t>(bytes);
  return bytes;
}

template <class Value>
Json json_or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json kind_json(const ModelQuestion& q, const LayerMemory& each) {
  Json json = {{"kind", to_string(each.kind)},
               {"layers", each.layers},
               {"kv_shared_layers", each.kv_shared},
               {"heads_q", each.layer.heads_q},
               {"heads_kv", each.layer.heads_kv},
               {"head_dim_qk", each.layer.head_dim_qk},
               {"head_dim_v", each.layer.head_dim_v},
               {"runs", each.runs},
               {"kv_bytes_per_token", each.kv_bytes_per_token},
               {"most_tokens", json_or_null(each.most_tokens)},
               {"compress_ratio", each.compress_ratio},
               {"indexers", each.indexers},
               {"index_row_bytes", each.index_row_bytes},
               {"index_row_keys", each.index_row_keys},
               {"encoder_len", json_or_null(each.encoder_len)},
               {"state_bytes", json_or_null(each.state_bytes)},
               {"convolution_bytes", json_or_null(each.convolution_bytes)}};
  if (q.context) {
    json["request_bytes"] = json_or_null(each.request_bytes(*q.context, q.memory.format.page_size));
  }
  return json;
}

/// Whether there are sparse layers about whose indexer nothing is known, which keep its keys as
/// well.
bool lacks_indexer(const ModelQuestion& q) {
  return q.model.kinds[LayerKind::kSparse] > 0 && q.model.index_topk == 0;
}

}  // namespace

std::optional<std::int64_t> ModelQuestion::bytes_for_cache() const {
  if (!gpu_bytes) return std::nullopt;
  return std::max<std::int64_t>(0, *gpu_bytes - ceil_div(weight_bytes.value_or(0), memory.tp));
}

std::optional<std::int64_t> ModelQuestion::tokens_that_fit() const {
  const auto left = bytes_for_cache();
  const auto page_size = static_cast<double>(memory.format.page_size);
  const double page = (memory.kv_bytes_per_token() + memory.index_bytes_per_token()) * page_size;
  if (!left || page == 0) return std::nullopt;
  return static_cast<std::int64_t>(static_cast<double>(*left) / page) * memory.format.page_size;
}

std::optional<std::int64_t> ModelQuestion::requests_that_fit() const {
  const auto left = bytes_for_cache();
  const auto request = context ? memory.request_bytes(*context) : std::nullopt;
  if (!left || !request) return std::nullopt;
  return *left / *request;
}

std::optional<std::int64_t> ModelQuestion::one_row_bytes() const {
  return context ? memory.request_bytes_in_one_row(*context) : std::nullopt;
}

void write_model_table(const ModelQuestion& q, std::ostream& out) {
  out << fmt::format("{} · {} layers · tp {}\n", printable(q.name), q.model.layers, q.memory.tp);
  out << rank_text(q) << expanded_text(q);
  const std::int64_t page_size = q.memory.format.page_size;
  out << fmt::format("KV cache {}, pages of {}: {} B a token in all layers of a rank",
                     rows_text(q.memory.format), page_size,
                     part_text(q.memory.kv_bytes_per_token()));
  if (has_cross(q)) {
    out << fmt::format(", {} B a token of an encoder", q.memory.encoder_bytes_per_token());
  }
  if (const double index = q.memory.index_bytes_per_token(); index > 0) {
    out << fmt::format(", {} B of index keys", part_text(index));
  }
  if (const auto page = q.memory.manager_page_tokens()) {
    out << fmt::format("\nvLLM hands out {} tokens at once (kv_cache: {{manager_page_size: {}}})",
                       *page, *page);
  }
  out << "\n\n" << terminal_text(kinds_table(q));
  if (q.context || q.gpu_bytes) out << '\n';
  write_capacity(q, out);
  if (lacks_indexer(q)) {
    out << "\nKeys of the sparse layers' indexers, of which nothing is known, are not counted.\n";
  }
  if (!q.model.notes.empty()) {
    out << '\n' << wrapped("note: " + printable(q.model.notes), kWidthOfModel, 0);
  }
  if (!q.model.verified && find_model(q.name) != nullptr) {
    out << "\nThe preset's figures are not checked against the model's config.json.\n";
  }
}

void write_model_json(const ModelQuestion& q, std::ostream& out) {
  const AttentionLayer layer = head_layer(q);
  Json root = {{"model", q.name},
               {"layers", q.model.layers},
               {"tp", q.memory.tp},
               {"heads_q", layer.heads_q},
               {"heads_kv", layer.heads_kv},
               {"head_dim_qk", layer.head_dim_qk},
               {"head_dim_v", layer.head_dim_v},
               {"kv_dtype", rows_text(q.memory.format)},
               {"page_size", q.memory.format.page_size},
               {"manager_page_size", json_or_null(q.memory.manager_page_tokens())},
               {"kv_bytes_per_token", whole_or_double(q.memory.kv_bytes_per_token())},
               {"index_bytes_per_token", whole_or_double(q.memory.index_bytes_per_token())},
               {"encoder_bytes_per_token", q.memory.encoder_bytes_per_token()},
               {"kinds", Json::array()},
               {"context", json_or_null(q.context)},
               {"request_bytes", json_or_null(q.context ? q.memory.request_bytes(*q.context)
                                                        : std::optional<std::int64_t>())},
               {"request_bytes_in_sglang", json_or_null(q.one_row_bytes())},
               {"gpu_bytes", json_or_null(q.gpu_bytes)},
               {"weight_bytes", json_or_null(q.weight_bytes)},
               {"counts_weights", q.weight_bytes.has_value()},
               {"bytes_for_cache", json_or_null(q.bytes_for_cache())},
               {"tokens_that_fit", json_or_null(q.tokens_that_fit())},
               {"requests_that_fit", json_or_null(q.requests_that_fit())},
               {"counts_indexer", !lacks_indexer(q)},
               {"verified", q.model.verified},
               {"notes", q.model.notes}};
  for (const LayerMemory& each : q.memory.kinds) root["kinds"].push_back(kind_json(q, each));
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
