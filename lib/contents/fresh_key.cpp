// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/fresh_key.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "lib/batch/key_set.h"
#include "lib/batch/multi_item.h"
#include "lib/scenario/fill.h"

namespace attnbench {
namespace {

/// First key that the last query may see.
std::int64_t first_visible(const AttentionLayer& layer, const Request& request) {
  return KeySet(layer, {.q_len = 1, .kv_len = request.kv_len}).first_in_reach();
}

/// Positions that fresh keys of a request may have.
FreshKeyChoice positions_of(const Case& c, const Request& request) {
  if (!has_cache(c.step)) return {};
  const std::int64_t seen = first_visible(c.layer, request);
  // The one of the step's own keys that most of its queries see, the last one among them.
  if (writes_kv(c.step)) {
    if (request.new_keys() <= 0) return {};
    return {std::max(request.kv_len - request.new_keys(), seen), 1};
  }
  const std::int64_t first = std::max(seen, request.shared_len);
  // The last query is the delimiter behind the items, which sees none of them.
  const std::int64_t last = request.kv_len - tokens_of_items(request.items) - 1;
  if (first > last) return {};
  if (c.layer.is_cross_attention) return {first, last - first + 1};
  // The one key that all lists of the last query are sure to have. Where lists end before a window
  // that no head sees, there is none.
  if (const Selection& rule = c.layer.selection; rule.exists() && !rule.compressed) {
    if (rule.is_hierarchical() && rule.window_of(0) == 0) return {};
    const std::int64_t seen_key = rule.is_landmark(last) ? last - 1 : last;
    if (seen_key < last && rule.window_of(0) < 2) return {};
    return {seen_key, 1};
  }
  // Keys before this step's are seen by all queries, a draft tree's too. Of the step's own keys
  // a causal mask hides the later ones from most queries, and a tree all but a node's own.
  if (request.prefix_len() > first) return {first, request.prefix_len() - first};
  if (!request.tree_parents.empty()) return {last, 1};
  return {first, (last - first) / 2 + 1};
}

/// Size per dim that gives a key about `weight` of the last query's weight.
float size_for(const Case& c, const Request& request, double weight) {
  const AttentionLayer& layer = c.layer;
  const double dims = layer.head_dim_qk - first_planted_dim(layer);
  const double scale = layer.scale * logit_temperature(layer, request.kv_len - 1);
  if (dims <= 0 || scale <= 0) return 1;
  std::int64_t seen =
      request.kv_len - tokens_of_items(request.items) - first_visible(layer, request);
  if (layer.compress_ratio > 0) {
    const std::int64_t rows = layer.compressed_rows(request.kv_len);
    seen += layer.selection.exists() ? std::min(layer.selection.topk, rows) : rows;
  } else if (layer.selection.exists()) {
    seen = std::min(seen, layer.selection.topk * layer.selection.unit + layer.selection.window);
  }
  const auto keys = static_cast<double>(std::max<std::int64_t>(seen, 1));
  // A query's dims have variance 1, and 2 where the direction of the fresh key is added to them.
  const double variance = scale * scale * (layer.head_dim_qk + dims);
  const double log_keys = std::log(keys);
  const double of_half = variance < 2 * log_keys
                             ? log_keys + variance / 2
                             : std::sqrt(2 * variance * std::max(log_keys, 0.5));
  // Among few keys each has more than the least weight.
  const double logit = std::max(of_half + std::log(weight / (1 - weight)), 0.0);
  return static_cast<float>(logit / (scale * dims));
}

}  // namespace

FreshKeyChoice fresh_key_choice(const Case& c, const Request& request) {
  FreshKeyChoice choice = positions_of(c, request);
  choice.nonce = c.sample_nonce;
  for (std::size_t i = 0; i < std::size(kFreshKeyWeights); ++i) {
    choice.sizes[i] = size_for(c, request, kFreshKeyWeights[i]);
  }
  return choice;
}

float largest_fresh_key_size(const Case& c, std::int64_t kv_len) {
  Request request;
  request.kv_len = kv_len;
  return size_for(c, request, kFreshKeyWeights[0]);
}

}  // namespace attnbench
