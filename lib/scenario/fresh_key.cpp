// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/fresh_key.h"

#include <algorithm>
#include <cmath>

#include "lib/base/counter_hash.h"
#include "lib/batch/multi_item.h"

namespace attnbench {
namespace {

/// First key that the last query may see.
std::int64_t first_visible(const AttentionLayer& layer, const Request& request) {
  if (layer.is_cross_attention) return 0;
  const std::int64_t last = request.kv_len - 1;
  const std::int64_t in_chunk = chunk_begin(layer.attention_chunk, last);
  return layer.sliding_window_size < 0 ? in_chunk
                                       : std::max(last - layer.sliding_window_size, in_chunk);
}

}  // namespace

std::int64_t fresh_position(const Case& c, const Request& request, std::uint64_t stream) {
  const std::int64_t seen = first_visible(c.layer, request);
  // The one of the step's own keys that most of its queries see, the last one among them.
  if (writes_kv(c.step)) {
    return request.new_keys() > 0 ? std::max(request.kv_len - request.new_keys(), seen) : -1;
  }
  const std::int64_t first = std::max(seen, request.shared_len);
  // The last query is the delimiter behind the items, which sees none of them.
  const std::int64_t last = request.kv_len - tokens_of_items(request.items) - 1;
  if (first > last) return -1;
  std::int64_t end = last;
  if (!c.layer.is_cross_attention) {
    // Keys before this step's are seen by all queries, a draft tree's too. Of the step's own keys
    // a causal mask hides the later ones from most queries, and a tree all but a node's own.
    if (request.prefix_len() > first) {
      end = request.prefix_len() - 1;
    } else if (!request.tree_parents.empty()) {
      return last;
    } else {
      end = first + (last - first) / 2;
    }
  }
  const std::uint64_t bits = combine(combine(mix64(c.seed), 0xf2e5u), stream);
  return first + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(end - first + 1));
}

float fresh_key_size(const Case& c, const Request& request) {
  const AttentionLayer& layer = c.layer;
  const bool mla = layer.shares_row_of_k_and_v();
  const double dims = layer.head_dim_qk - (mla ? layer.head_dim_v : 0);
  const double scale = layer.scale * logit_temperature(layer, request.kv_len - 1);
  if (dims <= 0 || scale <= 0) return 1;
  const auto keys = static_cast<double>(std::max<std::int64_t>(
      request.kv_len - tokens_of_items(request.items) - first_visible(layer, request), 1));
  // A query's dims have variance 1, and 2 where the direction of the fresh key is added to them.
  const double variance = scale * scale * (layer.head_dim_qk + dims);
  const double log_keys = std::log(keys);
  const double logit = variance < 2 * log_keys ? log_keys + variance / 2
                                               : std::sqrt(2 * variance * std::max(log_keys, 0.5));
  return static_cast<float>(logit / (scale * dims));
}

}  // namespace attnbench
