// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/visible_keys.h"

#include <limits>
#include <map>

#include "lib/batch/chosen_keys.h"

namespace attnbench::reference {
namespace {

int depth_of(const std::vector<int>& parents, std::int64_t node) {
  int depth = 0;
  for (int up = parents[static_cast<std::size_t>(node)]; up >= 0;
       up = parents[static_cast<std::size_t>(up)]) {
    ++depth;
  }
  return depth;
}

}  // namespace

bool VisibleKeys::any_in(std::int64_t first, std::int64_t last) const {
  if (std::max(first, begin) < std::min(last, end)) return true;
  const auto key = branch_from(first);
  return key != branch.end() && key->index < last;
}

namespace {

/// Of a prompt that ends in items the keys of query `token`: those before the first delimiter, and
/// of its own item those up to itself. A delimiter has no item.
VisibleKeys keys_of_item(const Request& request, std::int64_t token) {
  VisibleKeys seen;
  const std::int64_t own = request.prefix_len() + token;
  std::int64_t delimiter = request.kv_len - 1;
  for (const std::int64_t length : request.items) delimiter -= length + 1;
  seen.end = std::min(delimiter, own + 1);
  for (const std::int64_t length : request.items) {
    const std::int64_t next = delimiter + length + 1;
    for (std::int64_t key = delimiter + 1; own < next && key <= own; ++key) {
      seen.branch.push_back({key, key});
    }
    delimiter = next;
    if (own <= delimiter) break;
  }
  return seen;
}

}  // namespace

std::int64_t query_position(const Request& request, std::int64_t token) {
  const bool tree = !request.tree_parents.empty();
  return request.prefix_len() + (tree ? depth_of(request.tree_parents, token) : token);
}

namespace {

/// What the mask shows.
VisibleKeys unmasked(const AttentionLayer& layer, const Request& request, std::int64_t token) {
  if (!request.items.empty()) return keys_of_item(request, token);
  VisibleKeys seen;
  const std::int64_t window = layer.sliding_window_size;
  const std::int64_t position = query_position(request, token);
  if (layer.is_cross_attention || !layer.causal) {
    seen.end = request.kv_len;
    if (layer.is_cross_attention || window < 0) return seen;
    seen.begin = std::clamp<std::int64_t>(position - window, 0, request.kv_len);
    seen.end = std::clamp<std::int64_t>(position + window + 1, 0, request.kv_len);
    return seen;
  }
  const bool tree = !request.tree_parents.empty();
  const bool by_index = layer.window_in_trees == WindowInTrees::kIndex;
  const std::int64_t index = request.prefix_len() + token;
  constexpr auto kNone = std::numeric_limits<std::int64_t>::min();
  const std::int64_t oldest = window < 0 ? kNone : (by_index ? index : position) - window;
  // Only keys of the own chunk: floor(key / chunk) == floor(index / chunk), in trees too.
  const std::int64_t chunk = layer.attention_chunk;
  const std::int64_t first_in_chunk = chunk > 0 ? index - index % chunk : kNone;
  // Behind the last token of the query's block, or of the request.
  const std::int64_t block = layer.causal_block;
  const std::int64_t behind = std::min((token / block + 1) * block, request.q_len);
  seen.end = std::max<std::int64_t>(request.prefix_len() + (tree ? 0 : behind), 0);
  seen.begin = std::clamp<std::int64_t>(std::max(oldest, first_in_chunk), 0, seen.end);
  for (const KeyRun& span : request.spans) {
    if (position < span.begin || position >= span.end) continue;
    seen.end = std::min(span.end, request.kv_len);
    if (layer.span_rule == SpanRule::kOverride) seen.begin = std::min(seen.begin, span.begin);
  }
  if (!tree) return seen;

  std::int64_t node_position = position;
  for (std::int64_t node = token; node >= 0; --node_position) {
    const std::int64_t key = request.prefix_len() + node;
    if (key < first_in_chunk || (by_index ? key : node_position) < oldest) break;
    seen.branch.push_back({key, node_position});
    node = request.tree_parents[static_cast<std::size_t>(node)];
  }
  std::ranges::reverse(seen.branch);
  return seen;
}

/// Of the keys that a mask shows those of the query's list.
VisibleKeys chosen_keys(const AttentionLayer& layer, const Request& request, std::int64_t token,
                        int head, const VisibleKeys& shown) {
  const ChosenKeys lists = lists_of(layer, request, token, 1);
  std::map<std::int64_t, std::int64_t> times;
  for (const std::int32_t unit : lists.list(0, layer.selection_group(head))) {
    if (unit != -1) ++times[unit];
  }
  VisibleKeys seen;
  const std::int64_t size = layer.selection.unit;
  for (const auto& [unit, named] : times) {
    shown.for_each_in(unit * size, (unit + 1) * size, [&, n = named](VisibleKeys::Key key) {
      if (layer.selection.has_landmarks && key.index % size == size - 1) return;
      seen.branch.push_back({key.index, key.position, n});
    });
  }
  // Behind all units of a list, of which none touches the window.
  const std::int64_t own = request.prefix_len() + token;
  const std::int64_t latest = layer.selection.window_of(layer.selection_group(head));
  shown.for_each_in(own + 1 - latest, own + 1, [&](VisibleKeys::Key key) {
    if (layer.selection.has_landmarks && key.index % size == size - 1) return;
    seen.branch.push_back(key);
  });
  return seen;
}

/// The compressed rows of the tokens up to the query's own: all of them, or those of its list.
void add_compressed(const AttentionLayer& layer, const Request& request, std::int64_t token,
                    int head, VisibleKeys& seen) {
  std::int64_t complete = 0;  // counted out: of the rows' definition, no formula of the layer's
  for (std::int64_t last = layer.compress_ratio - 1; last <= request.prefix_len() + token;
       last += layer.compress_ratio) {
    ++complete;
  }
  std::vector<std::int64_t> times(static_cast<std::size_t>(complete), 1);
  if (layer.selection.exists()) {
    std::ranges::fill(times, 0);
    const ChosenKeys lists = lists_of(layer, request, token, 1);
    for (const std::int32_t row : lists.list(0, layer.selection_group(head))) {
      if (row >= 0 && row < complete) ++times[static_cast<std::size_t>(row)];
    }
  }
  for (std::int64_t row = 0; row < complete; ++row) {
    const std::int64_t key = request.kv_len + row, named = times[static_cast<std::size_t>(row)];
    if (named > 0) seen.branch.push_back({key, key, named});
  }
}

}  // namespace

std::vector<WeighedUnit> units_weighed_by(const AttentionLayer& layer, const Request& request,
                                          std::int64_t token, int head) {
  std::vector<WeighedUnit> units;
  if (!layer.selection.weighs_units()) return units;
  const ChosenKeys lists = lists_of(layer, request, token, 1);
  const auto list = lists.list(0, layer.selection_group(head));
  const auto first = static_cast<std::size_t>(list.data() - lists.indices.data());
  for (std::size_t entry = 0; entry < list.size(); ++entry) {
    if (list[entry] < 0) continue;
    const std::int64_t begin = list[entry] * lists.unit;
    units.push_back({begin, begin + lists.unit, static_cast<double>(lists.scores[first + entry])});
  }
  return units;
}

VisibleKeys keys_seen_by(const AttentionLayer& layer, const Request& request, std::int64_t token,
                         int head) {
  VisibleKeys shown = unmasked(layer, request, token);
  if (layer.compress_ratio > 0) {
    add_compressed(layer, request, token, head, shown);
    return shown;
  }
  if (!layer.selection.exists()) return shown;
  return chosen_keys(layer, request, token, head, shown);
}

}  // namespace attnbench::reference
