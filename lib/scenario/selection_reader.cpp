// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/batch/indexer_inputs.h"
#include "lib/config/key_values.h"
#include "lib/config/value_reader.h"
#include "lib/scenario/language.h"
#include "lib/scenario/layer_reader.h"

namespace attnbench {
namespace {

/// A word, or the map that names a file.
bool read_pattern(const YamlNode& node, Selection& selection, Problems& problems) {
  if (node.is_map()) {
    selection.pattern = SelectionPattern::kCaptured;
    return ScenarioMap(node, "pattern", "pattern", problems).has_required(problems);
  }
  const std::vector<std::string_view> words = words_of(kDrawnPatterns);
  const auto choice = read_choice(node, "pattern", words, problems);
  if (choice) selection.pattern = kDrawnPatterns[*choice];
  return choice.has_value();
}

constexpr const char* kSelectionExample = "for example {topk: 2048}, or none";

/// Labels have the heavy channels of keys, each of a KV head.
bool check_labels(const ScenarioMap& map, const AttentionLayer& layer, Problems& problems) {
  const Selection& rule = layer.selection;
  const auto refuse = [&](const char* key, std::string message, std::string hint) {
    problems.add(map.place_of(key), std::move(message), std::move(hint));
    return false;
  };
  if (!rule.scores_labels()) {
    if (!map.has("channels")) return true;
    return refuse("channels", fmt::format("channels beside score: {}", to_string(rule.score)),
                  "score: channels scores keys by so many heavy channels");
  }
  if (layer.family == Family::kLatent) {
    return refuse("score", "score: channels of a latent layer",
                  "heavy channels are those of a KV head's keys, which latent rows are not");
  }
  if (rule.unit != 1) {
    return refuse("unit", fmt::format("unit {} beside score: channels", rule.unit),
                  "a label is of one key: unit: 1");
  }
  if (rule.channels <= layer.head_dim_qk) return true;
  return refuse(
      map.has("channels") ? "channels" : "score",
      fmt::format("{} heavy channels of keys of {} elements", rule.channels, layer.head_dim_qk),
      fmt::format("channels: 1 to {}", layer.head_dim_qk));
}

/// Maxima have a head for each group, and take the query's own unit themselves. Representations and
/// labels are scored by the layer's heads.
bool check_score(const ScenarioMap& map, AttentionLayer& layer, Problems& problems) {
  if (layer.selection.stale > 0 && !layer.selection.scores_representations()) {
    problems.add(map.place_of("stale"),
                 fmt::format("stale beside score: {}", to_string(layer.selection.score)),
                 "score: group, head and bounds have representations, which go stale");
    return false;
  }
  if (!layer.selection.scores_in_bf16()) return true;
  if (layer.selection.scores_by_layer_heads()) {
    if (map.has("index_heads")) {
      problems.add(map.place_of("index_heads"),
                   fmt::format("index_heads beside score: {}", to_string(layer.selection.score)),
                   layer.selection.scores_labels()
                       ? "labels are scored by the layer's own query heads"
                       : "representations are scored by the layer's own query heads");
      return false;
    }
    layer.selection.index_heads = layer.heads_q;
    return true;
  }
  for (const char* key : {"index_heads", "tail"}) {
    if (!map.has(key)) continue;
    problems.add(
        map.place_of(key), fmt::format("{} beside score: max", key),
        "it has an index head for each group, and the query's own unit is one of its topk");
    return false;
  }
  layer.selection.tail = SelectionTail::kCounted;
  layer.selection.index_heads = layer.selection_groups();
  return true;
}

/// What only a selection with a window, or of weighed units, can have.
bool check_hierarchy(const ScenarioMap& map, const AttentionLayer& layer, Problems& problems) {
  const Selection& rule = layer.selection;
  const auto refuse = [&](const char* key, std::string message, const char* hint) {
    problems.add(map.place_of(key), std::move(message), hint);
    return false;
  };
  for (const char* key : {"fusion", "window_heads"}) {
    if (!map.has(key) || rule.window > 0) continue;
    return refuse(key, fmt::format("{} without window_keys", key),
                  "window_keys: 512 keeps the latest keys out of all lists");
  }
  if (rule.has_landmarks && rule.unit < 2) {
    return refuse("landmarks", "landmarks of units of 1 key",
                  "the last key of a unit represents the others: unit: 64");
  }
  const bool by_kv_head = rule.groups == SelectionGroups::kKvHeads;
  if (rule.window_heads > 0 && (!by_kv_head || rule.window_heads >= layer.heads_kv)) {
    return refuse("window_heads",
                  fmt::format("window_heads {} of {}", rule.window_heads,
                              by_kv_head ? fmt::format("{} KV heads", layer.heads_kv)
                              : rule.groups == SelectionGroups::kOne ? "lists that all heads share"
                                                                     : "lists of each query head"),
                  "KV heads without a list stand beside others with groups: kv_heads");
  }
  if (!rule.is_hierarchical() || (!rule.has_tail() && !rule.takes_maxima())) return true;
  const char* const key = rule.window > 0       ? "window_keys"
                          : rule.weighs_units() ? "softmax"
                                                : "score";
  return refuse(
      key,
      fmt::format("{} beside {}", key,
                  rule.has_tail() ? fmt::format("tail: {}", to_string(rule.tail)) : "score: max"),
      "its lists name complete units before the window, the query's own never");
}

}  // namespace

bool read_selection(const YamlNode& node, AttentionLayer& layer, Problems& problems) {
  const Selection of_model = std::exchange(layer.selection, {});
  if (is_none(node)) return true;
  if (node.is_scalar()) {
    problems.add(node.place,
                 fmt::format("selection takes a map with topk, found {}", describe(node)),
                 kSelectionExample);
    return false;
  }
  const ScenarioMap map(node, "selection", "selection", problems);
  const auto selection = read_whole<Selection>(map, problems, of_model);
  if (!selection) return false;
  if (!selection->exists()) {
    problems.add(node.place, "selection has no topk", kSelectionExample);
    return false;
  }
  if (map.has("overlap") && selection->pattern != SelectionPattern::kShared) {
    problems.add(map.place_of("overlap"),
                 fmt::format("overlap of pattern {}", to_string(selection->pattern)),
                 "neighbouring queries have a part of their lists in common under pattern: shared");
    return false;
  }
  if (map.has("padding") && selection->pattern == SelectionPattern::kCaptured) {
    problems.add(map.place_of("padding"), "padding beside the file of a pattern",
                 "the file has all columns of its lists");
    return false;
  }
  if (selection->has_tail() && (selection->topk < 2 || selection->unit < 2)) {
    problems.add(
        map.place_of("tail"),
        fmt::format("tail: {} of lists of {} unit{} of {} key{}", to_string(selection->tail),
                    selection->topk, selection->topk == 1 ? "" : "s", selection->unit,
                    selection->unit == 1 ? "" : "s"),
        "a tail is a unit of several keys beside others: unit and topk of 2 and more");
    return false;
  }
  layer.selection = *selection;
  return check_hierarchy(map, layer, problems) && check_labels(map, layer, problems) &&
         check_score(map, layer, problems);
}

KeySection selection_section() {
  return {
      "selection",
      "selection",
      "mixes.NAME.attention.selection",
      {{"topk", whole(&Selection::topk, 1),
        "Entries that a list has room for; a query that sees no more has all of them.",
        "the model's; required where it has none"},
       {"unit", whole(&Selection::unit, 1),
        "Neighbouring keys that an entry stands for, from a multiple of `unit` on. The query's "
        "own unit ends at the query."},
       {"tail", word(&Selection::tail, kSelectionTails),
        "What the query's own unit is: one of a list's `topk` like the others; an entry beside "
        "those that a selector takes, `topk` - 1, while it is `open` (GLM-5.3-Flash); or always an "
        "entry of its `own` (Step 5)."},
       {"groups", word(&Selection::groups, kSelectionGroups),
        "Which query heads share a list: all, those of a KV head, or none, each of the `heads` "
        "with "
        "its own (double sparsity)."},
       {"pattern",
        by_hand(read_pattern, list_of_words(words_of(kDrawnPatterns)) + ", or a map", "uniform",
                "pattern"),
        "How a list is drawn, its query's own unit always in it; or the file that has it."},
       {"overlap", share(&Selection::overlap),
        "The part of a list that 64 neighbouring positions have in common at least, with "
        "`pattern: shared`."},
       {"padding", word(&Selection::padding, kSelectionPaddings),
        "What the columns hold that a short list leaves: -1 behind `topk_length`, -1 before "
        "the list, or its entries again behind `topk_length`."},
       {"score", word(&Selection::score, kSelectionScores),
        "What an indexer scores a unit by: the weighted `sum` over heads of max(0, q·k) of its one "
        "row (DeepSeek-V3.2); the `max` of q·k over its keys, where the query's own unit is above "
        "all others (MiniMax-M3); q·k of its representation, of the sum of a `group`'s heads or "
        "the largest of a `head` (SGLang's HSA); the largest by the `bounds` of its keys (Quest); "
        "or a key by its heavy `channels` (double sparsity)."},
       {"index_heads", whole(&Selection::index_heads, 1),
        "Query heads of the indexer whose logits choose the keys: 64 of DeepSeek-V3.2, 32 of "
        "GLM-5."},
       {"channels", whole(&Selection::channels, 1, IndexerInputs::kDim),
        "Of a key those by which an indexer scores it, with `score: channels` "
        "(--ds-heavy-channel-num of SGLang until April 2026); another set for each KV head."},
       {"window_keys", whole(&Selection::window, 1),
        "Latest keys, the query's own among them, that lists leave out with each unit that one of "
        "them touches: the window of hierarchical sparse attention (--hsa-window-size).",
        "none"},
       {"fusion", flag(&Selection::fuses_window),
        "Heads with lists see these keys, too (--hsa-enable-swa-fusion)."},
       {"window_heads", whole(&Selection::window_heads, 1),
        "So many first KV heads see only these keys, and have no list.", "none"},
       {"softmax", word(&Selection::softmax, kSelectionSoftmaxes),
        "What weights add up over: all `keys` that a query sees; or the keys of each entry, where "
        "the softmax of a score for each weighs the `units` and the window's LSE stands beside "
        "them."},
       {"landmarks", flag(&Selection::has_landmarks),
        "The last key of each unit represents it, and no query sees it."},
       {"stale", share(&Selection::stale),
        "The part of units that were written after their representation was made, which an indexer "
        "must pass over."}},
      kSelectionExample};
}

}  // namespace attnbench
