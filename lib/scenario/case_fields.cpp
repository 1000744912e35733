// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/case_fields.h"

#include <array>

#include "lib/batch/cache_format.h"

namespace attnbench {
namespace {

constexpr std::array kWindowRules = {WindowInTrees::kIndex, WindowInTrees::kDepth};
constexpr std::array kSpanRules = {SpanRule::kOverride, SpanRule::kWithinWindow};

}  // namespace

const std::vector<Field<AttentionLayer>>& layer_fields() {
  using L = AttentionLayer;
  static const std::vector<Field<L>> fields = {
      {"causal", member<&L::causal>(), "Bottom-right aligned"},
      {"causal_block", member<&L::causal_block>(),
       "Tokens of a block (block diffusion), up to whose end a query sees the new keys",
       "up to its own"},
      {"cross_attention", member<&L::is_cross_attention>(), "Keys come from an encoder"},
      {"sinks", member<&L::has_sinks>(), "A learned logit per head joins the denominator"},
      {"alibi", member<&L::has_alibi>(), "Slopes times distance join the logits"},
      {"sliding_window_size", member<&L::sliding_window_size>(),
       "Previous keys that are visible, the query's own not counted", "all"},
      {.name = "window_in_trees",
       .access = word<kWindowRules, &L::window_in_trees>(),
       .says = "What a window counts between nodes of a draft tree: their index among the keys, or "
               "their depth",
       .in_results = false},
      {.name = "span_rule",
       .access = word<kSpanRules, &L::span_rule>(),
       .says = "What a query of a prompt's span sees of the span's keys before it: all of them, or "
               "those that the window leaves",
       .in_results = false},
      {"attention_chunk", member<&L::attention_chunk>(),
       "Keys of a chunk, of which a query sees only those of its own", "no chunks"},
      {"compress_ratio", member<&L::compress_ratio>(),
       "Tokens of a compressed row, which is a key beside those of tokens; a query sees the rows "
       "that are complete at its own position, or those of its list",
       "no compressed rows"},
      {"dual_chunk/chunk_size", member<&L::dual_chunk, &DualChunk::chunk_size>(),
       "Dual-chunk attention: tokens of a chunk. With c = this - dual_local_size, the key at "
       "position j meets the query at position i in its form floor(i / c) - floor(j / c): 0 intra, "
       "1 succ, 2 and more inter",
       "one form", "dual_chunk_size"},
      {.name = "dual_chunk/local_size",
       .access = member<&L::dual_chunk, &DualChunk::local_size>(),
       .says = "See dual_chunk_size",
       .column = "dual_local_size",
       .exists = [](const L& layer) { return layer.dual_chunk.exists(); }},
      {"scale", member<&L::scale>(), "Multiplies q.k"},
      {"logit_cap", member<&L::logit_cap>(), "cap * tanh(s / cap)", "none"},
      {"temperature_len", member<&L::temperature_len>(),
       "Logits of a query at a later index i are multiplied by log2(i) / log2(this) after the cap",
       "none"},
  };
  return fields;
}

const std::vector<Field<AttentionLayer>>& selection_fields() {
  using L = AttentionLayer;
  using S = Selection;
  const auto has_lists = [](const L& layer) { return layer.selection.exists(); };
  static const std::vector<Field<L>> fields = {
      {"selection/topk", member<&L::selection, &S::topk>(),
       "Entries that a query's list of chosen keys has room for", "all keys are seen",
       "selection_topk"},
      {.name = "selection/unit",
       .access = member<&L::selection, &S::unit>(),
       .says = "Neighbouring keys that an entry stands for",
       .column = "selection_unit",
       .exists = has_lists},
      {.name = "selection/tail",
       .access = word<kSelectionTails, &L::selection, &S::tail>(),
       .says =
           "The query's own unit is counted with the others of its list, or a tail beside those "
           "that were selected: while it is open, or own: always",
       .column = "selection_tail",
       .exists = has_lists},
      {.name = "selection/groups",
       .access = word<kSelectionGroups, &L::selection, &S::groups>(),
       .says =
           "Which query heads share a list: all of the rank, those of a KV head, or none: heads",
       .column = "selection_groups",
       .exists = has_lists},
      {.name = "selection/pattern",
       .access = word<kSelectionPatterns, &L::selection, &S::pattern>(),
       .says = "How lists are drawn that cannot have all, or captured: those of a file",
       .column = "selection_pattern",
       .exists = has_lists},
      {.name = "selection/overlap",
       .access = member<&L::selection, &S::overlap>(),
       .says = "Common part of the lists of neighbouring queries; null: of another pattern than "
               "shared",
       .column = "selection_overlap",
       .exists =
           [](const L& layer) {
             return layer.selection.exists() &&
                    layer.selection.pattern == SelectionPattern::kShared;
           }},
      {.name = "selection/padding",
       .access = word<kSelectionPaddings, &L::selection, &S::padding>(),
       .says = "What the columns hold that a short list leaves: end, front or repeat",
       .column = "selection_padding",
       .exists = has_lists},
      {.name = "selection/score",
       .access = word<kSelectionScores, &L::selection, &S::score>(),
       .says = "What an indexer scores a unit by: the sum over heads of its row, the max of its "
               "keys, its representation under a group, a head or as bounds, or the heavy channels "
               "of a key",
       .column = "selection_score",
       .exists = has_lists},
      {.name = "selection/index_heads",
       .access = member<&L::selection, &S::index_heads>(),
       .says = "Query heads of the indexer that scores keys",
       .column = "selection_index_heads",
       .exists = has_lists},
      {.name = "selection/window_keys",
       .access = member<&L::selection, &S::window>(),
       .says = "Latest keys of a query that lists leave out; 0: none",
       .column = "selection_window_keys",
       .exists = has_lists},
      {.name = "selection/fusion",
       .access = member<&L::selection, &S::fuses_window>(),
       .says = "Heads with lists see these keys, too",
       .column = "selection_fusion",
       .exists = has_lists},
      {.name = "selection/window_heads",
       .access = member<&L::selection, &S::window_heads>(),
       .says = "First KV heads that see only these keys",
       .column = "selection_window_heads",
       .exists = has_lists},
      {.name = "selection/softmax",
       .access = word<kSelectionSoftmaxes, &L::selection, &S::softmax>(),
       .says = "Over all keys that a query sees, or of each entry, which scores weigh: units",
       .column = "selection_softmax",
       .exists = has_lists},
      {.name = "selection/landmarks",
       .access = member<&L::selection, &S::has_landmarks>(),
       .says = "The last key of each unit represents it, and no query sees it",
       .column = "selection_landmarks",
       .exists = has_lists},
      {.name = "selection/channels",
       .access = member<&L::selection, &S::channels>(),
       .says = "Heavy channels of a key by which an indexer scores it; null: it scores otherwise",
       .column = "selection_channels",
       .exists =
           [](const L& layer) {
             return layer.selection.exists() && layer.selection.scores_labels();
           }},
      {.name = "selection/stale",
       .access = member<&L::selection, &S::stale>(),
       .says = "Part of the units whose representation is older than they are",
       .column = "selection_stale",
       .exists = has_lists},
  };
  return fields;
}

const std::vector<Field<KvCacheConfig>>& cache_fields() {
  using C = KvCacheConfig;
  static const std::vector<Field<C>> fields = {
      {"layout", word<kCacheLayouts, &C::layout>(),
       "How the cache lies for a backend: NHD, HND, combined, x_packed, joint, joint_hnd or ragged",
       "it chose none", "kv_layout"},
      {"page_stride", member<&C::page_stride>(),
       "Tokens from the beginning of a page to that of the next; other layers' pages or padding "
       "lie between",
       "page_size"},
      {"manager_page_size", member<&C::manager_page_size>(),
       "Tokens of a page of the memory manager, whole pages of the kernel in a row", "page_size"},
      {"scales", word<kCacheScales, &C::scales>(),
       "What shares a scale in the cache: tensor, head, token, block, request or group", "",
       "kv_scales"},
      {"placement", word<kPagePlacements, &C::placement>(),
       "Where the pages of a request lie in the pool: contiguous, shuffled, interleaved, "
       "fragmented, reversed"},
      {"k_scale", member<&C::k_scale>(), "Stored K times it is K"},
      {"v_scale", member<&C::v_scale>(), "Stored V times it is V"},
      {"swa_pool", member<&C::swa_pool>(),
       "The pool holds no pages but those that the layer's window and chunk reach"},
  };
  return fields;
}

Json layer_json(const AttentionLayer& layer) {
  Json json = {{"kind", layer.shares_row_of_k_and_v() ? "mla_absorbed" : layer.attention()},
               {"heads_q", layer.heads_q},
               {"heads_kv", layer.heads_kv},
               {"head_dim_qk", layer.head_dim_qk},
               {"head_dim_v", layer.head_dim_v}};
  add_fields(json, layer_fields(), layer);
  if (layer.selection.exists()) add_fields(json, selection_fields(), layer);
  return json;
}

Json cache_json(const KvCacheConfig& cache) {
  Json json = {{"page_size", cache.page_size}, {"dtype", to_string(cache.dtype)}};
  add_fields(json, cache_fields(), cache);
  return json;
}

}  // namespace attnbench
