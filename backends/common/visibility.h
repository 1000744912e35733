// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "lib/batch/forward_batch.h"
#include "lib/batch/key_run.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

/// First query token of a request among the batch's T tokens.
[[nodiscard]] inline std::int64_t first_token(const ForwardBatch& batch, std::int64_t request) {
  switch (batch.forward_mode) {
    case ForwardMode::kDecode:
      return request;
    case ForwardMode::kTargetVerify:
      return request * batch.q_len(request);
    default:
      return batch.extend_start_loc[static_cast<std::size_t>(request)];
  }
}

/// Keys of a request that a pass reads, from the first on: all, or those before the step's own.
[[nodiscard]] inline std::int64_t keys_read(const ForwardBatch& batch, std::int64_t request) {
  const std::int64_t kv_len = batch.kv_len(request);
  if (batch.problem == nullptr || !batch.problem->prefix_alone) return kv_len;
  return std::max<std::int64_t>(kv_len - batch.q_len(request), 0);
}

/// Keys that one query token may see: [begin, end), less the draft nodes that the tree hides, or
/// the keys of other items.
struct Visibility {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t position = 0;  ///< of the query among the keys; in a draft tree prefix + depth

  // Draft trees only; mask is null otherwise.
  const std::uint8_t* mask = nullptr;       ///< [kv_len], 1 = visible
  std::int64_t prefix = 0;                  ///< keys before the tree's nodes
  const std::int64_t* positions = nullptr;  ///< of the nodes
  std::int64_t oldest = 0;                  ///< first position inside a window by depth

  // Of multi-item scoring only: delimiters and keys of other items, [hidden_begin, hidden_end).
  std::int64_t hidden_begin = 0, hidden_end = 0;

  /// Siblings share a position, so a node's differs from its index.
  [[nodiscard]] std::int64_t key_position(std::int64_t key) const {
    return mask != nullptr && key >= prefix ? positions[key - prefix] : key;
  }
  [[nodiscard]] bool hides(std::int64_t key) const {
    return (mask != nullptr && (mask[key] == 0 || key_position(key) < oldest)) ||
           (key >= hidden_begin && key < hidden_end);
  }
  [[nodiscard]] bool sees(std::int64_t key) const {
    return key >= begin && key < end && !hides(key);
  }
};

/// Keys [begin, end) that meet form `variant` of a query, of dual-chunk attention: 0 intra, 1 succ,
/// 2 inter. Of other layers all keys meet form 0.
struct VariantKeys {
  int variant = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Of keys [begin, end) those of each form of a query at `place`, oldest first; where there is no
/// key, one empty range.
[[nodiscard]] inline std::vector<VariantKeys> variant_keys(const DualChunk& dual,
                                                           std::int64_t place, std::int64_t begin,
                                                           std::int64_t end) {
  if (!dual.exists() || begin >= end) return {{0, begin, end}};
  const std::int64_t intra = chunk_begin(dual.step(), place), succ = intra - dual.step();
  std::vector<VariantKeys> parts;
  for (const VariantKeys& all : {VariantKeys{2, begin, succ}, {1, succ, intra}, {0, intra, end}}) {
    const VariantKeys part{all.variant, std::max(all.begin, begin), std::min(all.end, end)};
    if (part.begin < part.end) parts.push_back(part);
  }
  return parts;
}

/// Queries of a request, the last of its keys, whose rows are token * group + head.
struct RequestRows {
  std::int64_t q_len = 0, kv_len = 0;
  std::int64_t group = 1;
};

/// Rows [begin, …) in tiles of at most `most`: the end of the first. Of dual-chunk attention all of
/// a tile's tokens are of one chunk, so that a key meets all rows in the same form.
[[nodiscard]] inline std::int64_t tile_end(const RequestRows& rows, const DualChunk& dual,
                                           std::int64_t begin, std::int64_t most) {
  const std::int64_t end = std::min(rows.q_len * rows.group, begin + most);
  if (!dual.exists()) return end;
  const std::int64_t prefix = rows.kv_len - rows.q_len, place = prefix + begin / rows.group;
  const std::int64_t next = chunk_begin(dual.step(), place) + dual.step();
  return std::min(end, (next - prefix) * rows.group);
}
/// Of a request of the batch.
[[nodiscard]] inline std::int64_t tile_end(const ForwardBatch& batch, const AttentionLayer& layer,
                                           std::int64_t request, std::int64_t begin,
                                           std::int64_t most) {
  return tile_end({batch.q_len(request), batch.kv_len(request), layer.group_size()},
                  layer.dual_chunk, begin, most);
}

/// Rows from `begin` on, at most `most`, that may have the same keys: of a layer with a selection
/// or compressed rows those of one token, or of one of its heads, which share a list.
[[nodiscard]] inline std::int64_t rows_of_one_list(const AttentionLayer& layer, std::int64_t begin,
                                                   std::int64_t most) {
  if (layer.selection.exists() && layer.selection.groups == SelectionGroups::kHeads) return 1;
  const std::int64_t group = layer.group_size();
  return layer.gathers_keys() ? std::min(most, group - begin % group) : most;
}

/// The same in tokens: how many of a request's `q_len` may have rows in one tile.
[[nodiscard]] inline std::int64_t tokens_of_one_list(const AttentionLayer& layer,
                                                     std::int64_t q_len) {
  return layer.gathers_keys() ? std::min<std::int64_t>(q_len, 1) : q_len;
}

/// The bidirectional span that a query token is part of; empty: there is none.
[[nodiscard]] inline KeyRun span_of(const ForwardBatch& batch, std::int64_t request,
                                    std::int64_t token) {
  if (batch.spans.empty()) return {};
  const auto at = static_cast<std::size_t>(2 * (first_token(batch, request) + token));
  return {batch.spans[at], batch.spans[at + 1]};
}

/// From the first delimiter on a query sees, behind the prefix, its own item alone.
inline void hide_other_items(const MultiItemParams& items, std::int64_t request, Visibility& seen) {
  const auto r = static_cast<std::size_t>(request);
  const std::int64_t prefix = items.prefix_len_ptr[r];
  const std::int64_t since = seen.position - prefix;
  if (since < 0) return;
  const std::int64_t at = request * items.token_pos_in_items_len + since;
  seen.hidden_begin = prefix;
  seen.hidden_end = seen.position - items.token_pos_in_items_ptr[static_cast<std::size_t>(at)] + 1;
}

/// Queries are the last q_len of kv_len positions (bottom-right alignment). A draft tree's mask
/// replaces causality; causal by blocks, a query sees its own to the end; without causality a
/// window reaches as far ahead as back.
[[nodiscard]] inline Visibility visibility_of(const ForwardBatch& batch,
                                              const AttentionLayer& layer, std::int64_t request,
                                              std::int64_t token) {
  const std::int64_t kv_len = batch.kv_len(request), q_len = batch.q_len(request);
  const std::int64_t keys = keys_read(batch, request);
  Visibility seen;
  seen.position = kv_len - q_len + token;
  seen.end = keys;
  const std::int64_t window = layer.sliding_window_size;
  const KeyRun span = span_of(batch, request, token);
  if (!layer.causal || layer.is_cross_attention) {
    if (window < 0 || layer.is_cross_attention) return seen;
    seen.begin = std::clamp<std::int64_t>(seen.position - window, 0, keys);
    seen.end = std::clamp<std::int64_t>(seen.position + window + 1, 0, keys);
    return seen;
  }

  if (batch.forward_mode == ForwardMode::kTargetVerify) {
    const SpecInfo& spec = *batch.spec_info;
    seen.mask = spec.custom_mask.data() + spec.mask_indptr[static_cast<std::size_t>(request)] +
                token * kv_len;
    seen.prefix = kv_len - q_len;
    seen.positions = batch.positions.data() + first_token(batch, request);
    seen.position = seen.positions[token];
  } else {
    const std::int64_t in_block = layer.causal_block - 1 - token % layer.causal_block;
    seen.end = std::clamp<std::int64_t>(std::max(seen.position + in_block + 1, span.end), 0, keys);
    if (batch.multi_item) hide_other_items(*batch.multi_item, request, seen);
  }
  seen.begin = chunk_begin(layer.attention_chunk, kv_len - q_len + token);
  if (window < 0) return seen;
  if (seen.mask != nullptr && layer.window_in_trees == WindowInTrees::kIndex) {
    seen.begin = std::max(kv_len - q_len + token - window, seen.begin);
    return seen;
  }
  seen.oldest = seen.position - window;
  const std::int64_t last = seen.mask != nullptr ? seen.prefix : seen.end;
  seen.begin = std::clamp<std::int64_t>(std::max(seen.oldest, seen.begin), 0, last);
  if (span.size() > 0 && layer.span_rule == SpanRule::kOverride) {
    seen.begin = std::min(seen.begin, span.begin);
  }
  return seen;
}

}  // namespace attnbench
