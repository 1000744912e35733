// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cost/cost.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "lib/base/dtype.h"
#include "lib/cost/checked.h"

namespace attnbench {
namespace {

constexpr std::int64_t kLseBytes = 4;         // f32
constexpr std::int64_t kTableEntryBytes = 4;  // int32 page number

bool sees_everything(const AttentionLayer& layer) {
  return layer.is_cross_attention || !layer.causal;
}

/// Keys that a causal row may see at most, its own included.
std::int64_t reach(const AttentionLayer& layer) {
  return layer.sliding_window_size < 0 ? std::numeric_limits<std::int64_t>::max()
                                       : layer.sliding_window_size + 1;
}

/// Visible pairs of one request in closed form: row i of a causal mask sees min(i + 1, W + 1) keys.
Count visible_pairs(const Case& c, const Request& r) {
  if (sees_everything(c.layer)) return Count(r.q_len) * r.kv_len;
  if (!r.tree_parents.empty()) {
    Count pairs = 0;
    for (std::int64_t token = 0; token < r.q_len; ++token) pairs += visible_keys(c, r, token);
    return pairs;
  }
  // Rows with no key at all (more queries than keys) come first; rows at full reach come last.
  const std::int64_t first = std::max<std::int64_t>(r.prefix_len() + 1, 1), last = r.kv_len;
  if (first > last) return 0;
  const std::int64_t limit = reach(c.layer);
  const std::int64_t ramp_end = std::clamp(limit, first - 1, last);  // rows first .. ramp_end
  const std::int64_t ramp = ramp_end - first + 1;
  // An odd sum of both ends means an even number of rows, so halving is exact.
  const std::int64_t half = (Count(first + ramp_end) * ramp).value() / 2;
  const std::int64_t full = last - ramp_end;
  return full == 0 ? Count(half) : Count(half) + Count(limit) * full;
}

/// Keys that any row of the request sees: [first, kv_len), or none.
std::int64_t first_seen_key(const Case& c, const Request& r) {
  if (r.q_len == 0) return r.kv_len;
  if (sees_everything(c.layer) || c.layer.sliding_window_size < 0) return 0;
  // The first row reaches back farthest; a tree's root is that row.
  return std::clamp<std::int64_t>(r.prefix_len() - c.layer.sliding_window_size, 0, r.kv_len);
}

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

/// Distinct keys that the batch sees: own ones per request, those of a shared prefix once. Only
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
      if (first < own_begin) {
        shared[static_cast<std::size_t>(r.shared_prefix)].emplace_back(first, own_begin);
      }
    }
    keys += r.kv_len - std::max(first, own_begin);
  }
  for (const auto& ranges : shared) keys += union_size(ranges);
  return keys;
}

/// Bytes of one token's K and V over all heads; a latent row serves as both.
Count kv_bytes_per_key(const Case& c) {
  const bool latent = c.layer.kind == AttentionKind::kMlaAbsorbed;
  const std::int64_t dims = c.layer.head_dim_qk + (latent ? 0 : c.layer.head_dim_v);
  return Count(c.layer.heads_kv) * dims * size_bytes(c.kv_cache.dtype);
}

/// Q, O, LSE and the page-table entries of seen pages: the same with and without sharing, because
/// each request has a table row of its own.
Count bytes_beside_kv(const Case& c) {
  const Count row = Count(c.layer.head_dim_qk + c.layer.head_dim_v) * size_bytes(c.dtype);
  Count bytes = Count(c.q_tokens()) * c.layer.heads_q * (row + kLseBytes);
  const std::int64_t page = c.kv_cache.page_size;
  for (const Request& r : c.requests) {
    const std::int64_t first_page = first_seen_key(c, r) / page;
    const std::int64_t pages = r.q_len == 0 ? 0 : (r.kv_len + page - 1) / page - first_page;
    bytes += Count(pages) * kTableEntryBytes;
  }
  return bytes;
}

}  // namespace

std::int64_t visible_keys(const Case& c, const Request& r, std::int64_t token) {
  if (sees_everything(c.layer)) return r.kv_len;
  if (r.tree_parents.empty()) {
    return std::clamp<std::int64_t>(r.prefix_len() + token + 1, 0, reach(c.layer));
  }
  // A draft node stands behind its ancestors, one position each: the window takes itself and
  // ancestors first, then the end of the prefix.
  std::int64_t branch = 0;
  for (std::int64_t node = token; node >= 0;
       node = r.tree_parents[static_cast<std::size_t>(node)]) {
    ++branch;
  }
  return std::min(r.prefix_len() + branch, reach(c.layer));
}

Cost count_cost(const Case& c) {
  Count pairs = 0, streamed_keys = 0;
  for (const Request& r : c.requests) {
    pairs += visible_pairs(c, r);
    streamed_keys += r.kv_len - first_seen_key(c, r);
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

double roofline_s(const Cost& cost, const Ceilings& ceilings) {
  const auto seconds = [](std::int64_t work, double rate) {
    return rate > 0 ? static_cast<double>(work) / rate : 0.0;
  };
  return std::max(seconds(cost.bytes_unique, ceilings.read_bytes_per_s),
                  seconds(cost.flops, ceilings.flop_per_s));
}

bool exceeds(std::int64_t work, double rate, double seconds) {
  // 2 %: what a ceiling measured beside the samples may itself be off by.
  constexpr double kTolerance = 1.02;
  return rate > 0 && static_cast<double>(work) > kTolerance * rate * seconds;
}

}  // namespace attnbench
