// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "lib/config/value_reader.h"
#include "lib/scenario/layer_reader.h"

namespace attnbench {
namespace {

constexpr std::array<std::string_view, 2> kWindowsInTrees{"index", "depth"};

bool is_none(const YamlNode& node) { return node.is_scalar() && node.text == "none"; }

/// The two spellings differ by the query's own key; a bare number would leave open which is meant.
bool read_window(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  if (is_none(node)) {
    layer.sliding_window_size = -1;
    return true;
  }
  if (node.is_scalar()) {
    problems.add(node.place,
                 fmt::format("window takes a convention or none, found {}", describe(node)),
                 "{keys: 1024} counts the query's own key, {keys_before: 1023} does not: the same "
                 "window");
    return false;
  }
  const StrictMap map(node, "window", "window", problems);
  if (!map.sound()) return false;
  const YamlNode* before = map.find("keys_before");
  const YamlNode* keys = map.find("keys");
  if ((before == nullptr) == (keys == nullptr)) {
    problems.add(
        node.place,
        before == nullptr ? "window gives no number of keys"
                          : "window gives both keys and keys_before",
        "one of them: {keys: 1024} counts the query's own key, {keys_before: 1023} does not");
    return false;
  }
  if (const YamlNode* in_trees = map.find("in_trees")) {
    const auto choice = read_choice(*in_trees, "in_trees", kWindowsInTrees, problems);
    if (!choice) return false;
    layer.window_in_trees = *choice == 0 ? WindowInTrees::kIndex : WindowInTrees::kDepth;
  }
  if (keys != nullptr) {
    const auto count = read_size(*keys, "keys", 1, kMaxSize, problems);
    if (count) layer.sliding_window_size = *count - 1;
    return count.has_value();
  }
  const auto count = read_size(*before, "keys_before", 0, kMaxSize, problems);
  if (count) layer.sliding_window_size = *count;
  return count.has_value();
}

/// Keys of a chunk.
bool read_attention_chunk(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  const auto keys = is_none(node) ? 0 : read_size(node, "chunk", 1, kMaxSize, problems);
  layer.attention_chunk = keys.value_or(0);
  return keys.has_value();
}

/// Both sizes, as Hugging Face's dual_chunk_attention_config names them.
bool read_dual_chunk(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  layer.dual_chunk = {};
  if (is_none(node)) return true;
  constexpr std::string_view kExample = "for example {chunk_size: 8192, local_size: 1024}, or none";
  if (node.is_scalar()) {
    problems.add(node.place, fmt::format("dual_chunk takes two sizes, found {}", describe(node)),
                 std::string(kExample));
    return false;
  }
  const StrictMap map(node, "dual_chunk", "dual_chunk", problems);
  if (!map.sound()) return false;
  const YamlNode* chunk = map.find("chunk_size");
  const YamlNode* local = map.find("local_size");
  if (chunk == nullptr || local == nullptr) {
    problems.add(
        node.place,
        fmt::format("dual_chunk has no {}", chunk == nullptr ? "chunk_size" : "local_size"),
        std::string(kExample));
    return false;
  }
  const auto chunk_size = read_size(*chunk, "chunk_size", 1, kMaxSize, problems);
  const auto local_size = read_size(*local, "local_size", 0, kMaxSize, problems);
  if (!chunk_size || !local_size) return false;
  if (*local_size >= *chunk_size) {
    problems.add(local->place,
                 fmt::format("local_size {} is not below chunk_size {}", *local_size, *chunk_size),
                 "keys are cut into chunks of chunk_size - local_size tokens");
    return false;
  }
  layer.dual_chunk = {*chunk_size, *local_size};
  return true;
}

/// Tokens up to which logits are as they are.
bool read_temperature_len(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  const auto tokens = is_none(node) ? 0 : read_size(node, "temperature_len", 2, kMaxSize, problems);
  layer.temperature_len = tokens.value_or(0);
  return tokens.has_value();
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

bool read_flag(const StrictMap& map, std::string_view key, bool& flag, Problems& problems) {
  const YamlNode* node = map.find(key);
  if (node == nullptr) return true;
  const auto value = read_bool(*node, key, problems);
  if (value) flag = *value;
  return value.has_value();
}

/// Whether queries come as one tensor or as two.
bool read_queries(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  constexpr std::string_view kForms[] = {"joined", "apart"};
  const auto choice = read_choice(node, "queries", kForms, problems);
  layer.queries_apart = choice == 1u;
  return choice.has_value();
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
          "a gated delta net has a state instead of keys: of `attention` it takes scale only; "
          "attention: none takes back what defaults say");
    }
  }
  if (layer.shares_row_of_k_and_v()) {
    const char* hint = "multi-head latent attention here takes causal, window, softcap and scale";
    if (layer.has_sinks) return refuse("sinks", "sinks on an MLA layer", hint);
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
  if (chunked && windowed && layer.window_in_trees == WindowInTrees::kDepth) {
    return refuse(
        "window", "in_trees: depth beside chunks",
        "chunks count places among the request's keys, so a window beside them does, too: "
        "in_trees: index");
  }
  return true;
}

}  // namespace

bool read_attention(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  const StrictMap map(node, "attention", "attention", problems);
  bool valid = map.sound();
  if (layer.is_cross_attention && map.has("cross")) {
    problems.add(
        map.place_of("cross"), "cross on a cross layer",
        "leave it out: such a layer's keys are an encoder's already, and the model's other "
        "layers keep their own");
    return false;
  }
  if (const YamlNode* window = map.find("window")) {
    valid = read_window(*window, layer, problems) && valid;
  }
  if (const YamlNode* chunk = map.find("chunk")) {
    valid = read_attention_chunk(*chunk, layer, problems) && valid;
  }
  if (const YamlNode* dual = map.find("dual_chunk")) {
    valid = read_dual_chunk(*dual, layer, problems) && valid;
  }
  if (const YamlNode* softcap = map.find("softcap")) {
    const auto cap = is_none(*softcap) ? 0.0 : read_factor(*softcap, "softcap", problems);
    valid = valid && cap;
    layer.logit_cap = cap.value_or(0);
  }
  if (const YamlNode* temperature = map.find("temperature_len")) {
    valid = read_temperature_len(*temperature, layer, problems) && valid;
  }
  if (const YamlNode* queries = map.find("queries")) {
    valid = read_queries(*queries, layer, problems) && valid;
  }
  if (const YamlNode* scale = map.find("scale")) {
    valid = read_scale(*scale, layer, problems) && valid;
  }
  valid = read_flag(map, "sinks", layer.has_sinks, problems) && valid;
  valid = read_flag(map, "alibi", layer.has_alibi, problems) && valid;
  valid = read_flag(map, "causal", layer.causal, problems) && valid;
  valid = read_flag(map, "cross", layer.is_cross_attention, problems) && valid;
  valid = valid && check_combination(map, layer, problems);
  if (layer.is_cross_attention) layer.causal = false;
  return valid;
}

}  // namespace attnbench
