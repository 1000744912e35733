// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "lib/batch/key_set.h"

namespace attnbench {

std::string describe_mask(const Problem& problem) {
  const AttentionLayer& layer = problem.layer;
  const bool has_trees = problem.mode == ForwardMode::kTargetVerify;
  const std::int64_t window = layer.sliding_window_size;
  if (layer.is_cross_attention || (!layer.causal && window < 0)) {
    return "every query token sees every key";
  }
  if (!layer.causal) {
    return fmt::format(
        "query token i of a request stands at position kv_len - q_len + i and sees the keys up to "
        "{} positions before and after its own",
        window);
  }
  std::string rule;
  if (has_trees) {
    rule =
        "query token i is node i of the request's draft tree (tree_parents), at position kv_len - "
        "q_len + its depth; it sees the kv_len - q_len keys of the prefix, its ancestors and "
        "itself";
  } else if (layer.causal_block > 1) {
    rule = fmt::format(
        "query token i of a request stands at position kv_len - q_len + i and sees the keys before "
        "kv_len - q_len + (floor(i / {}) + 1) {}, the end of its block",
        layer.causal_block, layer.causal_block);
  } else {
    rule =
        "query token i of a request stands at position kv_len - q_len + i and sees keys up to its "
        "own";
  }
  const bool places = has_trees && layer.window_in_trees == WindowInTrees::kIndex;
  if (window >= 0) {
    rule += fmt::format("; none of them more than {} {} before its own", window,
                        places ? "places among the request's keys" : "positions");
  }
  if (problem.multi_item) {
    rule +=
        "; a request with items ends in a delimiter, its first item, a delimiter and so on, a "
        "delimiter last: their tokens see the keys before the first delimiter, and those of an "
        "item the keys of their own item up to their own";
  }
  if (problem.spans) {
    rule += fmt::format(
        "; a query whose position lies in a span of its request, [begin, end), also sees {}",
        layer.span_rule == SpanRule::kOverride ? "every key of this span"
                                               : "the keys of this span behind its own");
  }
  if (layer.compress_ratio > 0) {
    rule += fmt::format(
        "; it also sees key kv_len + c, compressed row c of {} tokens, where c is below "
        "floor((kv_len - q_len + i + 1) / {}){}",
        layer.compress_ratio, layer.compress_ratio,
        layer.selection.exists()
            ? " and among the first topk_length[token, group] of topk_indices[token, group]"
            : "");
  } else if (layer.selection.exists()) {
    rule += fmt::format(
        "; of these only the keys of its list: entry u among the first topk_length[token, group] "
        "of topk_indices[token, group] stands for the keys u {0} to u {0} + {0} - 1, an entry of "
        "-1 for none, and query head h reads group floor(h {1} / {2})",
        layer.selection.unit, layer.selection_groups(), layer.heads_q);
    if (const Selection& chosen = layer.selection; chosen.window > 0) {
      rule +=
          fmt::format("; heads of {} also see the latest {} keys up to the query's own",
                      chosen.fuses_window ? "all groups"
                                          : fmt::format("the first {} groups", chosen.window_heads),
                      chosen.window);
    }
  }
  if (layer.attention_chunk > 0) {
    rule += fmt::format(
        "; of these the keys alone that lie in the same chunk of {} among the request's keys as "
        "its own: key j and query token i where floor(j / {}) = floor((kv_len - q_len + i) / {})",
        layer.attention_chunk, layer.attention_chunk, layer.attention_chunk);
  }
  if (const DualChunk& dual = layer.dual_chunk; dual.exists()) {
    rule += fmt::format(
        "; key j meets the form of the query that floor((kv_len - q_len + i) / {}) - floor(j / {}) "
        "says: 0 intra, 1 succ, 2 and more inter, which follow each other in a row of q",
        dual.step(), dual.step());
  }
  return rule;
}

}  // namespace attnbench
