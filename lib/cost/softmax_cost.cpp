// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "lib/base/count.h"
#include "lib/base/dtype.h"
#include "lib/batch/multi_item.h"
#include "lib/batch/q_scale_array.h"
#include "lib/cost/family_costs.h"
#include "lib/scenario/prefix_tree.h"

namespace attnbench {
namespace {

constexpr std::int64_t kLseBytes = 4;         // f32
constexpr std::int64_t kScaleBytes = 4;       // f32
constexpr std::int64_t kTableEntryBytes = 4;  // int32 page number
constexpr std::int64_t kSlotBytes = 8;        // int64 in out_cache_loc

bool sees_everything(const AttentionLayer& layer) {
  return layer.is_cross_attention || (!layer.causal && layer.sliding_window_size < 0);
}

/// Keys that a row may see before its own.
std::int64_t reach(const AttentionLayer& layer) {
  return layer.sliding_window_size < 0 ? std::numeric_limits<std::int32_t>::max()
                                       : layer.sliding_window_size;
}

/// The sum of clamp(first + i, 0, limit) over i = 0 .. count - 1, in closed form.
Count clamped_sum(std::int64_t first, std::int64_t count, std::int64_t limit) {
  const std::int64_t last = first + count - 1;
  const std::int64_t low = std::max<std::int64_t>(first, 1), high = std::min(last, limit);
  // An odd sum of both ends means an even number of terms, so halving is exact.
  const std::int64_t ramp = low > high ? 0 : (Count(low + high) * (high - low + 1)).value() / 2;
  const std::int64_t full = std::max<std::int64_t>(last - std::max(first - 1, limit), 0);
  return Count(ramp) + Count(limit) * full;
}

/// The sum of min(i, reach + 1) over i = 1 .. keys, in closed form: pairs of the first `keys` rows
/// of a chunk.
Count pairs_in_chunk(const AttentionLayer& layer, std::int64_t keys) {
  return clamped_sum(1, keys, reach(layer) + 1);
}

/// Pairs of the rows at places 0 .. `rows` - 1 of a chunked layer.
Count pairs_before(const AttentionLayer& layer, std::int64_t rows) {
  return Count(rows / layer.attention_chunk) * pairs_in_chunk(layer, layer.attention_chunk) +
         pairs_in_chunk(layer, rows % layer.attention_chunk);
}

/// Pairs of a prompt that ends in items, whose prefix is causal: each delimiter meets the prefix,
/// each token of an item the prefix and its item up to itself.
Count pairs_of_items(const Request& r) {
  const std::int64_t tail = tokens_of_items(r.items), prefix = r.kv_len - tail;
  Count pairs = clamped_sum(r.prefix_len() + 1, r.q_len - tail, r.kv_len) + Count(tail) * prefix;
  for (const std::int64_t length : r.items) pairs += clamped_sum(1, length, length);
  return pairs;
}

/// Keys behind a query's own that blocks show, over all queries of a request. A block of n queries
/// has n (n - 1) / 2 such pairs.
Count pairs_ahead_in_blocks(const AttentionLayer& layer, std::int64_t q_len) {
  const std::int64_t block = std::min(layer.causal_block, std::max<std::int64_t>(q_len, 1));
  const auto of_block = [](std::int64_t n) { return (Count(n) * (n - 1)).value() / 2; };
  return Count(q_len / block) * of_block(block) + of_block(q_len % block);
}

/// Visible pairs of one request: row i sees the keys from position - reach to its own, or as far
/// ahead as back, as far as there are any.
Count visible_pairs(const Case& c, const Request& r) {
  if (sees_everything(c.layer)) return Count(r.q_len) * r.kv_len;
  if (!r.items.empty()) return pairs_of_items(r);
  if (!r.tree_parents.empty()) {
    Count pairs = 0;
    for (std::int64_t token = 0; token < r.q_len; ++token) pairs += visible_keys(c, r, token);
    return pairs;
  }
  const std::int64_t back = reach(c.layer), ahead = c.layer.causal ? 0 : back;
  const std::int64_t first = r.prefix_len();
  if (c.layer.attention_chunk > 0) {
    return pairs_before(c.layer, r.kv_len).value() -
           pairs_before(c.layer, std::max<std::int64_t>(first, 0)).value();
  }
  return clamped_sum(first + ahead + 1, r.q_len, r.kv_len).value() -
         clamped_sum(first - back, r.q_len, r.kv_len).value() +
         pairs_ahead_in_blocks(c.layer, r.q_len).value();
}

/// Keys that any row of the request sees: [first, kv_len), or none.
std::int64_t first_seen_key(const Case& c, const Request& r) {
  if (r.q_len == 0) return r.kv_len;
  if (sees_everything(c.layer)) return 0;
  // The first row reaches back farthest; a tree's root is that row.
  std::int64_t first = chunk_begin(c.layer.attention_chunk, r.prefix_len());
  if (c.layer.sliding_window_size >= 0) {
    first = std::max(first, r.prefix_len() - c.layer.sliding_window_size);
  }
  return std::min(first, r.kv_len);
}

/// Keys that no query sees although some queries see keys before and behind them: delimiters.
std::int64_t unseen_keys(const Request& r) { return r.items.empty() ? 0 : std::ssize(r.items) + 1; }

/// Tokens in the union of half-open ranges.
std::int64_t union_size(std::vector<std::pair<std::int64_t, std::int64_t>> ranges) {
  std::ranges::sort(ranges);
  std::int64_t size = 0, covered = 0;
  for (const std::pair<std::int64_t, std::int64_t>& range : ranges) {
    size += std::max<std::int64_t>(range.second - std::max(range.first, covered), 0);
    covered = std::max(covered, range.second);
  }
  return size;
}

/// Distinct keys that the batch sees: own ones per request, those that a prefix adds once. Only
/// whole pages are shared, so what a prefix leaves on its last, partial page is every request's
/// own.
Count unique_keys(const Case& c) {
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> shared(c.prefixes.size());
  Count keys = 0;
  for (const Request& r : c.requests) {
    const std::int64_t first = first_seen_key(c, r);
    std::int64_t own_begin = 0;
    if (r.shared_prefix >= 0) {
      own_begin = r.shared_len / c.kv_cache.page_size * c.kv_cache.page_size;
    }
    for (int p = r.shared_prefix; p >= 0; p = c.prefixes[static_cast<std::size_t>(p)].parent) {
      const TokenRange pages = own_whole_pages(c.prefixes, p, c.kv_cache.page_size);
      const std::int64_t begin = std::max(first, pages.begin);
      const std::int64_t end = std::min(own_begin, pages.end);
      if (begin < end) shared[static_cast<std::size_t>(p)].emplace_back(begin, end);
    }
    keys += r.kv_len - std::max(first, own_begin) - unseen_keys(r);
  }
  for (const auto& ranges : shared) keys += union_size(ranges);
  return keys;
}

/// Elements of one token's K and V over all heads; a latent row serves as both.
std::int64_t kv_elements(const Case& c) {
  const int dim_v = c.layer.shares_row_of_k_and_v() ? 0 : c.layer.head_dim_v;
  return std::int64_t{c.layer.heads_kv} * (c.layer.head_dim_qk + dim_v);
}

/// Their bytes in the cache, scales of their own included.
Count kv_bytes_per_key(const Case& c) {
  const bool latent = c.layer.shares_row_of_k_and_v();
  if (c.kv_cache.scales == KvScales::kBlock) {
    return Count(c.layer.heads_kv) * block_row_bytes(c.layer.head_dim_v, c.layer.head_dim_qk);
  }
  const std::int64_t scales = c.kv_cache.scales == KvScales::kToken ? (latent ? 1 : 2) : 0;
  return Count(kv_elements(c)) * size_bytes(c.kv_cache.dtype) +
         Count(c.layer.heads_kv) * (scales * kScaleBytes);
}

/// Of the scales of heads, and of requests, which attention and a KV write read.
Count bytes_of_head_scales(const Case& c) {
  const bool by_request = c.kv_cache.scales == KvScales::kRequest;
  if (!by_request && c.kv_cache.scales != KvScales::kHead) return 0;
  const std::int64_t rows = by_request ? std::ssize(c.requests) : 1;
  return Count(rows) * c.layer.heads_kv * (c.layer.shares_row_of_k_and_v() ? 1 : 2) * kScaleBytes;
}

Count bytes_of_q_scales(const Case& c) {
  if (c.fp8.q_scales == QScales::kTensor) return 0;
  const QScaleArray of_kind = q_scale_array(c.fp8, c.layer);
  return Count(of_kind.rows(std::ssize(c.requests), c.q_tokens())) * of_kind.columns() *
         kScaleBytes;
}

/// Q, O, LSE, the scales of heads and the page-table entries of seen pages: the same with and
/// without sharing, because each request has a table row of its own. Ragged keys have an entry for
/// each request, where its keys begin.
Count bytes_beside_kv(const Case& c) {
  const Count row = Count(c.layer.query_dim()) * size_bytes(c.q_dtype()) +
                    Count(c.layer.head_dim_v) * size_bytes(c.out_dtype());
  Count bytes = Count(c.q_tokens()) * c.layer.heads_q * (row + kLseBytes);
  bytes += bytes_of_q_scales(c) + bytes_of_head_scales(c);
  const std::int64_t page = c.kv_cache.page_size;
  for (const Request& r : c.requests) {
    const std::int64_t first_page = first_seen_key(c, r) / page;
    const std::int64_t pages = r.q_len == 0 ? 0 : (r.kv_len + page - 1) / page - first_page;
    bytes += Count(c.kv_cache.is_ragged() ? 1 : pages) * kTableEntryBytes;
  }
  return bytes;
}

}  // namespace

std::int64_t visible_keys(const Case& c, const Request& r, std::int64_t token) {
  if (sees_everything(c.layer)) return r.kv_len;
  const std::int64_t prefix = r.prefix_len(), place = prefix + token;
  if (!r.items.empty()) {
    const std::int64_t own_part = r.kv_len - tokens_of_items(r.items);
    std::int64_t behind = place - own_part;  // tokens since the first delimiter
    if (behind < 0) return place + 1;
    for (const std::int64_t length : r.items) {
      if (behind <= length) return own_part + behind;
      behind -= length + 1;
    }
    return own_part;
  }
  // A chunk begins where a shorter window would.
  const std::int64_t back =
      std::min(reach(c.layer), c.layer.attention_chunk > 0
                                   ? place - chunk_begin(c.layer.attention_chunk, place)
                                   : std::numeric_limits<std::int64_t>::max());
  if (r.tree_parents.empty()) {
    const std::int64_t in_block = c.layer.causal_block - 1 - token % c.layer.causal_block;
    const std::int64_t ahead = c.layer.causal ? in_block : back;
    return std::clamp<std::int64_t>(place + ahead + 1, 0, r.kv_len) -
           std::clamp<std::int64_t>(place - back, 0, r.kv_len);
  }
  const bool by_index = c.layer.window_in_trees == WindowInTrees::kIndex;
  std::int64_t branch = 0, in_window = 0;
  for (std::int64_t node = token; node >= 0;
       node = r.tree_parents[static_cast<std::size_t>(node)]) {
    if ((by_index ? token - node : branch) <= back) ++in_window;
    ++branch;
  }
  // The prefix stands behind the whole branch, or behind all tokens before this one.
  const std::int64_t behind = by_index ? token : branch - 1;
  return in_window + std::clamp<std::int64_t>(back - behind, 0, prefix);
}

/// k_new and v_new, their slots and the scales of heads are read, and rows of the cache are written
/// with the scales that they bring along.
void add_kv_write(const Case& c, Cost& cost) {
  const Count fresh = Count(kv_elements(c)) * size_bytes(c.dtype);
  Count keys = 0;
  for (const Request& r : c.requests) keys += r.new_keys();
  const Count read = keys * (fresh + kSlotBytes);
  const Count written = keys * kv_bytes_per_key(c);
  cost.kv_bytes_written = written.value();
  // Attention counts the written rows among those that it reads, and the scales of heads.
  const Count alone = read + written + bytes_of_head_scales(c);
  const std::int64_t more = attends(c.step) ? read.value() : alone.value();
  cost.bytes_unique = (Count(cost.bytes_unique) + more).value();
  cost.bytes_streamed = (Count(cost.bytes_streamed) + more).value();
  if (attends(c.step)) return;
  cost.kv_bytes_unique = cost.kv_bytes_streamed = cost.kv_bytes_written;
}

Cost count_attention(const Case& c) {
  Count pairs = 0, streamed_keys = 0;
  for (const Request& r : c.requests) {
    pairs += visible_pairs(c, r);
    streamed_keys += r.kv_len - first_seen_key(c, r) - unseen_keys(r);
  }
  const Count per_key = kv_bytes_per_key(c), beside = bytes_beside_kv(c);
  const Count unique = unique_keys(c) * per_key, streamed = streamed_keys * per_key;
  const Count dims = c.layer.head_dim_qk + c.layer.head_dim_v;
  Cost cost;
  cost.visible_pairs = pairs.value();
  cost.flops = (Count(2) * c.layer.heads_q * dims * pairs).value();
  cost.kv_bytes_unique = unique.value();
  cost.kv_bytes_streamed = streamed.value();
  cost.bytes_unique = (unique + beside).value();
  cost.bytes_streamed = (streamed + beside).value();
  return cost;
}

Cost softmax_cost(const Case& c) {
  Cost cost;
  if (attends(c.step)) cost = count_attention(c);
  // The step's own tokens have no keys in a cross layer.
  if (writes_kv(c.step) && !c.layer.is_cross_attention) add_kv_write(c, cost);
  return cost;
}

}  // namespace attnbench
