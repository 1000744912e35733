// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/config/key_values.h"
#include "lib/config/value_reader.h"
#include "lib/scenario/language.h"
#include "lib/scenario/layer_reader.h"

namespace attnbench {
namespace {

/// The two spellings differ by the query's own key; a bare number would leave open which is meant.
bool read_window(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  layer.sliding_window_size = -1;
  if (is_none(node)) return true;
  if (node.is_scalar()) {
    problems.add(node.place,
                 fmt::format("window takes a convention or none, found {}", describe(node)),
                 "{keys: 1024} counts the query's own key, {keys_before: 1023} does not: the same "
                 "window");
    return false;
  }
  const ScenarioMap map(node, "window", "window", problems);
  if (!map.sound()) return false;
  if (map.has("keys_before") == map.has("keys")) {
    problems.add(
        node.place,
        map.has("keys") ? "window gives both keys and keys_before"
                        : "window gives no number of keys",
        "one of them: {keys: 1024} counts the query's own key, {keys_before: 1023} does not");
    return false;
  }
  return read_rows(map, layer, problems);
}

bool read_window_keys(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  const auto count = read_size(node, "keys", 1, kMaxSize, problems);
  if (count) layer.sliding_window_size = *count - 1;
  return count.has_value();
}

constexpr const char* kDualChunkExample =
    "for example {chunk_size: 8192, local_size: 1024}, or none";

/// Both sizes, as Hugging Face's dual_chunk_attention_config names them.
bool read_dual_chunk(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  layer.dual_chunk = {};
  if (is_none(node)) return true;
  if (node.is_scalar()) {
    problems.add(node.place, fmt::format("dual_chunk takes two sizes, found {}", describe(node)),
                 kDualChunkExample);
    return false;
  }
  const ScenarioMap map(node, "dual_chunk", "dual_chunk", problems);
  const auto sizes = read_whole<DualChunk>(map, problems);
  if (!sizes) return false;
  if (sizes->local_size >= sizes->chunk_size) {
    problems.add(map.find("local_size")->place,
                 fmt::format("local_size {} is not below chunk_size {}", sizes->local_size,
                             sizes->chunk_size),
                 "keys are cut into chunks of chunk_size - local_size tokens");
    return false;
  }
  layer.dual_chunk = *sizes;
  return true;
}

bool read_scale(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  constexpr double kMost = 1e4;  // models have 1 at the most
  const auto scale = read_factor(node, "scale", problems);
  layer.scale = scale.value_or(1);
  if (layer.scale <= kMost) return scale.has_value();
  problems.add(node.place, fmt::format("scale {} is more than {:g}", node.text, kMost),
               "one key would have all of the weight, and its rounded logit would choose it");
  return false;
}

/// Whether queries come as one tensor or as two.
bool read_queries(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  constexpr std::string_view kForms[] = {"joined", "apart"};
  const auto choice = read_choice(node, "queries", kForms, problems);
  layer.queries_apart = choice == 1u;
  return choice.has_value();
}

/// Compressed rows stand beside the latent rows of tokens; lists name the former.
bool check_compressed(const StrictMap& map, const AttentionLayer& layer, Problems& problems) {
  // A layer without heads stands for one that is not known.
  if (!layer.shares_row_of_k_and_v() && layer.heads_q > 0) {
    problems.add(map.place_of("compress_ratio"), "compress_ratio on a layer without latent rows",
                 "a compressed row is key and value, as those of tokens beside it: "
                 "model: {kv_lora_rank: 512, qk_nope_head_dim: 512, qk_rope_head_dim: 0, …}, "
                 "mla: absorbed");
    return false;
  }
  if (!layer.causal) {
    problems.add(map.place_of("causal"), "compress_ratio without causal masking",
                 "a query sees the rows of tokens up to its own");
    return false;
  }
  const YamlNode* selection = map.find("selection");
  if (selection == nullptr) return true;
  for (const YamlEntry& entry : selection->entries) {
    constexpr std::string_view kOfRows[] = {"topk", "pattern", "overlap", "padding", "index_heads"};
    if (std::ranges::find(kOfRows, entry.key) != std::end(kOfRows)) continue;
    problems.add(
        entry.place, fmt::format("{} beside compress_ratio", entry.key),
        "an entry of its lists is one compressed row, for all heads: a selection has topk, "
        "pattern, overlap, padding and index_heads there");
    return false;
  }
  return true;
}

/// Lists of a layer with compressed rows name these.
void set_unit_of_lists(AttentionLayer& layer) {
  Selection& rule = layer.selection;
  const bool compressed = rule.exists() && layer.compress_ratio > 0;
  if (compressed) rule.unit = layer.compress_ratio;
  if (rule.compressed && !compressed) rule.unit = 1;
  rule.compressed = compressed;
}

/// Combinations that no definition covers.
bool check_combination(const StrictMap& map, const AttentionLayer& layer, Problems& problems) {
  const auto refuse = [&](std::string_view key, const char* message, const char* hint) {
    problems.add(map.place_of(key), message, hint);
    return false;
  };
  const bool windowed = layer.sliding_window_size >= 0;
  const bool chunked = layer.attention_chunk > 0;
  const bool warmed = layer.temperature_len > 0;
  const bool dual = layer.dual_chunk.exists();
  if (layer.is_recurrent()) {
    for (const YamlEntry& entry : map.node().entries) {
      if (entry.key == "scale") continue;
      const std::string message = fmt::format("{} on a linear layer", entry.key);
      return refuse(
          entry.key, message.c_str(),
          "a linear layer has a state instead of keys: of `attention` it takes scale only; "
          "attention: none takes back what defaults say");
    }
  }
  if (layer.shares_row_of_k_and_v()) {
    const char* hint =
        "multi-head latent attention here takes causal, window, compress_ratio, selection, sinks, "
        "softcap and scale";
    if (layer.has_alibi) return refuse("alibi", "alibi on an MLA layer", hint);
    if (chunked) return refuse("chunk", "chunks on an MLA layer", hint);
    if (dual) return refuse("dual_chunk", "dual chunks on an MLA layer", hint);
    if (warmed) return refuse("temperature_len", "a temperature on an MLA layer", hint);
    if (layer.is_cross_attention) return refuse("cross", "cross attention on an MLA layer", hint);
  }
  // A layer without heads stands for one that is not known.
  if (layer.queries_apart && !layer.shares_row_of_k_and_v() && layer.heads_q > 0) {
    return refuse("queries", "queries apart on a layer without latent rows",
                  "mla: absorbed and mla: composed have queries of latent and of rope columns");
  }
  if (layer.is_cross_attention) {
    const char* hint = "an encoder's keys have no order relative to the queries";
    if (windowed) return refuse("window", "a sliding window with cross attention", hint);
    if (layer.has_alibi) return refuse("alibi", "alibi with cross attention", hint);
    if (chunked) return refuse("chunk", "chunks with cross attention", hint);
    if (dual) return refuse("dual_chunk", "dual chunks with cross attention", hint);
    if (warmed) return refuse("temperature_len", "a temperature with cross attention", hint);
    const YamlNode* causal = map.find("causal");
    if (causal != nullptr && causal->text == "true") {
      return refuse("causal", "causal cross attention", hint);
    }
  }
  if (chunked && !layer.causal) {
    return refuse("causal", "chunks without causal masking",
                  "a query of a chunked layer sees the keys of its chunk up to its own");
  }
  if (dual) {
    const char* hint =
        "dual-chunk attention is causal and sees all keys before: beside it softcap, "
        "temperature_len, sinks and scale";
    if (windowed) return refuse("dual_chunk", "dual chunks beside a window", hint);
    if (chunked) return refuse("dual_chunk", "dual chunks beside chunks", hint);
    if (layer.has_alibi) return refuse("dual_chunk", "dual chunks with ALiBi", hint);
    if (!layer.causal) return refuse("causal", "dual chunks without causal masking", hint);
  }
  if (layer.selection.exists()) {
    const char* hint =
        "keys are chosen among all before the query: beside a selection a layer takes softcap, "
        "temperature_len, sinks and scale";
    const auto beside = [&](const char* what) {
      const std::string message = fmt::format("a selection beside {}", what);
      return refuse("selection", message.c_str(), hint);
    };
    if (windowed && layer.compress_ratio == 0) return beside("a window");
    if (chunked) return beside("chunks");
    if (dual) return beside("dual chunks");
    if (layer.has_alibi) return beside("ALiBi");
    if (layer.is_cross_attention) return beside("cross attention");
    if (!layer.causal) return beside("causal: false");
  }
  if (layer.compress_ratio > 0 && !check_compressed(map, layer, problems)) return false;
  if (chunked && windowed && layer.window_in_trees == WindowInTrees::kDepth) {
    return refuse(
        "window", "in_trees: depth beside chunks",
        "chunks count places among the request's keys, so a window beside them does, too: "
        "in_trees: index");
  }
  return true;
}

}  // namespace

KeySection attention_section() {
  constexpr SpanRule kSpanRules[] = {SpanRule::kOverride, SpanRule::kWithinWindow};
  return {
      "attention",
      "attention",
      "mixes.NAME.attention",
      {{"window", by_hand(read_window, "a map, or none", "none", "window"),
        "A sliding window, in one of two conventions.", "the model's"},
       {"chunk", whole_or_none(&AttentionLayer::attention_chunk, 1),
        "Chunked local attention: a query sees the keys of its own chunk of so many, up to itself.",
        "the model's"},
       {"compress_ratio", whole_or_none(&AttentionLayer::compress_ratio, 1),
        "Of a latent layer: beside the tokens that a query sees, the compressed rows of so many "
        "tokens each that are complete at its own (DeepSeek-V4: 4, 128). A `selection` names rows, "
        "`topk` of them.",
        "the model's"},
       {"spans", word(&AttentionLayer::span_rule, kSpanRules),
        "What queries of a prompt's `spans` see: all of their span, or of what lies before them "
        "only what the window leaves."},
       {"dual_chunk", by_hand(read_dual_chunk, "a map, or none", "none", "dual_chunk"),
        "Dual-chunk attention (Qwen2.5-1M).", "the model's"},
       {"selection", by_hand(read_selection, "a map, or none", "none", "selection"),
        "Sparse attention: a query sees only the keys of its list, which another kernel chose."},
       {"softcap", factor_or_none(&AttentionLayer::logit_cap),
        "Logits become cap * tanh(logit / cap).", "the model's"},
       {"temperature_len", whole_or_none(&AttentionLayer::temperature_len, 2),
        "Grok's temperature: logits of a query at index i are multiplied by log2(i) / "
        "log2(temperature_len) where i is larger.",
        "the model's"},
       {"sinks", flag(&AttentionLayer::has_sinks),
        "A learned logit of each query head joins the denominator.", "the model's"},
       {"alibi", flag(&AttentionLayer::has_alibi),
        "-slope * |query position - key position| joins the logit; slopes are the whole model's.",
        "the model's"},
       {"causal", flag(&AttentionLayer::causal),
        "A query sees no later key. The last query sees all keys (bottom-right alignment)."},
       {"cross", flag(&AttentionLayer::is_cross_attention),
        "Cross attention in a mix of that only: `kv_len` counts the encoder's tokens, which lie in "
        "the cache. It is never causal."},
       {"scale", by_hand(read_scale, "a number from 1e-30 to 1e4"), "Multiplies q.k.",
        "the model's; 1/sqrt(head_dim) of a geometry"},
       {"q_dtype", by_section("`e4m3` `e5m2`"), "Queries in fp8.", "`dtype`"},
       {"q_scale", by_section("a number from 1e-30 to 1e30", "1"),
        "A stored Q times this is the query, with `q_scales: tensor`."},
       {"q_scales", by_section("`tensor` `head` `token` `request`", "tensor"),
        "What shares a scale of queries in fp8: all, a KV head, a token and query head, or a "
        "request and KV head."},
       {"out_dtype", by_section("`e4m3` `e5m2`"),
        "Outputs in fp8: O / out_scale, rounded to nearest even and saturating.", "`dtype`"},
       {"out_scale", by_section("a number from 1e-30 to 1e30", "1"), "A stored O times this is O."},
       {"queries", by_hand(read_queries, "`joined` `apart`", "joined"),
        "How queries of absorbed MLA come: as one tensor, or as one of the latent and one of the "
        "rope columns."}}};
}

KeySection window_section() {
  constexpr WindowInTrees kWindowsInTrees[] = {WindowInTrees::kIndex, WindowInTrees::kDepth};
  return {"window",
          "window",
          "mixes.NAME.attention.window",
          {{"keys_before", whole(&AttentionLayer::sliding_window_size, 0),
            "Earlier keys that a query sees, its own not counted (FlashAttention's window_left).",
            "none"},
           {"keys", by_hand(read_window_keys, "a whole number from 1"),
            "All keys that a query sees, its own counted (Hugging Face's sliding_window)."},
           {"in_trees", word(&AttentionLayer::window_in_trees, kWindowsInTrees),
            "How distances between nodes of a draft tree count: by index among the request's keys, "
            "as engines do, or by depth in the branch's text. `target_verify` only."}}};
}

KeySection dual_chunk_section() {
  return {"dual_chunk",
          "dual_chunk",
          "mixes.NAME.attention.dual_chunk",
          {{"chunk_size", whole(&DualChunk::chunk_size, 1),
            "As in Hugging Face's dual_chunk_attention_config.", "", true},
           {"local_size", whole(&DualChunk::local_size, 0), "Below chunk_size.", "", true}},
          kDualChunkExample};
}

bool read_attention(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  const ScenarioMap map(node, "attention", "attention", problems);
  if (layer.is_cross_attention && map.has("cross")) {
    problems.add(
        map.place_of("cross"), "cross on a cross layer",
        "leave it out: such a layer's keys are an encoder's already, and the model's other "
        "layers keep their own");
    return false;
  }
  const bool valid =
      read_rows(map, layer, problems) && map.sound() && check_combination(map, layer, problems);
  if (layer.is_cross_attention) layer.causal = false;
  set_unit_of_lists(layer);
  return valid;
}

}  // namespace attnbench
