// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/key_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lib/base/count.h"
#include "lib/base/int_math.h"
#include "lib/batch/graph_padding.h"
#include "lib/batch/multi_item.h"

namespace attnbench {
namespace {

QueriesAndKeys request_of(const ForwardBatch& batch, const AttentionLayer& layer, std::int64_t r,
                          bool prefix_alone) {
  QueriesAndKeys request{.q_len = batch.q_len(r), .kv_len = batch.kv_len(r)};
  if (prefix_alone) request.keys_read = std::max<std::int64_t>(request.kv_len - request.q_len, 0);
  if (batch.spec_info && !layer.is_cross_attention) {
    const auto first = batch.spec_info->retrieve_parent_token.begin() + r * request.q_len;
    request.tree_parents.assign(first, first + request.q_len);
    if (is_padding(batch, r)) request.keys_read = 0;
  }
  if (batch.multi_item) request.items = items_of_request(*batch.multi_item, r, request.kv_len);
  for (std::int64_t t = 0; !batch.spans.empty() && t < request.q_len; ++t) {
    const std::size_t at = to_size(2 * (batch.extend_start_loc[to_size(r)] + t));
    const KeyRun span{batch.spans[at], batch.spans[at + 1]};
    if (span.size() > 0 && (request.spans.empty() || request.spans.back() != span)) {
      request.spans.push_back(span);
    }
  }
  return request;
}

/// The lists of request r's tokens, behind those of the requests before it.
std::optional<ChosenKeys> chosen_of(const ForwardBatch& batch, std::int64_t r) {
  if (!batch.chosen) return std::nullopt;
  std::int64_t first = 0;
  for (std::int64_t before = 0; before < r; ++before) first += batch.q_len(before);
  return batch.chosen->of_tokens(first, batch.q_len(r));
}

/// Of two sets in ascending order in which no two runs touch, a third one.
std::vector<KeyRun> intersection(std::span<const KeyRun> a, std::span<const KeyRun> b) {
  std::vector<KeyRun> common;
  for (const KeyRun& x : a) {
    for (const KeyRun& y : b) {
      const KeyRun both{std::max(x.begin, y.begin), std::min(x.end, y.end)};
      if (both.begin < both.end) common.push_back(both);
    }
  }
  return common;
}

}  // namespace

std::vector<KeyRun> united(std::vector<KeyRun> runs) {
  std::ranges::sort(runs, {}, &KeyRun::begin);
  std::vector<KeyRun> joined;
  for (const KeyRun& run : runs) {
    if (run.begin >= run.end) continue;
    if (!joined.empty() && run.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, run.end);
    } else {
      joined.push_back(run);
    }
  }
  return joined;
}

std::int64_t count_keys(std::span<const KeyRun> runs) {
  std::int64_t keys = 0;
  for (const KeyRun& run : runs) keys += run.size();
  return keys;
}

KeySet::KeySet(const AttentionLayer& layer, QueriesAndKeys request,
               std::optional<ChosenKeys> chosen)
    : layer_(layer), request_(std::move(request)), chosen_(std::move(chosen)) {}

KeySet::KeySet(const AttentionLayer& layer, const ForwardBatch& batch, std::int64_t r,
               bool prefix_alone)
    : KeySet(layer, request_of(batch, layer, r, prefix_alone), chosen_of(batch, r)) {}

bool KeySet::sees_all() const {
  return layer_.is_cross_attention || (!layer_.causal && layer_.sliding_window_size < 0);
}

std::int64_t KeySet::first_delimiter() const {
  return request_.kv_len - tokens_of_items(request_.items);
}

bool KeySet::sees_one_run() const {
  return !chosen_ && request_.tree_parents.empty() && request_.items.empty();
}

/// The span that holds the position, empty where none does.
KeyRun KeySet::span_of(std::int64_t position) const {
  for (const KeyRun& span : request_.spans) {
    if (span.holds(position)) return span;
  }
  return {};
}

/// Keys of a query that has neither a draft tree nor items: one run.
KeyRun KeySet::band(std::int64_t token) const {
  if (sees_all()) return {0, request_.kv_len};
  const std::int64_t own = prefix_len() + token, window = layer_.sliding_window_size;
  // An encoder's window reaches as far ahead as back. A block ends behind its last query.
  const std::int64_t ahead =
      layer_.causal ? layer_.causal_block - 1 - token % layer_.causal_block : window;
  std::int64_t begin = layer_.causal ? chunk_begin(layer_.attention_chunk, own) : 0;
  if (window >= 0) begin = std::max(begin, own - window);
  const KeyRun span = span_of(own);
  if (span.size() > 0 && layer_.span_rule == SpanRule::kOverride) {
    begin = std::min(begin, span.begin);
  }
  return {begin, std::clamp<std::int64_t>(std::max(own + ahead + 1, span.end), 0, request_.kv_len)};
}

/// Keys of a node of a draft tree: of the prefix and of the branch that ends in the node those that
/// are in reach. Positions in the text are counted by depth, since siblings share one; chunks count
/// positions among the keys in any case.
std::vector<KeyRun> KeySet::branch(std::int64_t token) const {
  const bool by_index = layer_.window_in_trees == WindowInTrees::kIndex;
  const auto parent_of = [&](std::int64_t node) {
    return std::int64_t{request_.tree_parents[to_size(node)]};
  };
  std::int64_t depth = 0;
  for (std::int64_t node = parent_of(token); node >= 0; node = parent_of(node)) ++depth;
  const std::int64_t in_chunk = chunk_begin(layer_.attention_chunk, prefix_len() + token);
  const std::int64_t own = prefix_len() + (by_index ? token : depth);
  const std::int64_t in_window =
      layer_.sliding_window_size < 0 ? 0 : own - layer_.sliding_window_size;
  std::vector<KeyRun> runs{{std::max<std::int64_t>({in_chunk, in_window, 0}), prefix_len()}};
  for (std::int64_t node = token; node >= 0; node = parent_of(node), --depth) {
    const std::int64_t key = prefix_len() + node;
    if (key < in_chunk || (by_index ? key : prefix_len() + depth) < in_window) break;
    runs.push_back({key, key + 1});
  }
  return runs;
}

/// Keys of a query of a prompt that ends in items: those before the first delimiter and those of
/// its own item, both up to its own. A delimiter has no item.
std::vector<KeyRun> KeySet::of_items(std::int64_t token) const {
  const std::int64_t own = prefix_len() + token;
  std::int64_t delimiter = first_delimiter();
  std::vector<KeyRun> runs{{0, std::min(delimiter, own + 1)}};
  for (const std::int64_t length : request_.items) {
    const std::int64_t next = delimiter + length + 1;
    if (own > delimiter && own < next) runs.push_back({delimiter + 1, own + 1});
    delimiter = next;
  }
  return runs;
}

/// The keys of a unit that a list names.
KeyRun KeySet::keys_of_entry(std::int64_t index) const {
  if (layer_.compress_ratio > 0) return {request_.kv_len + index, request_.kv_len + index + 1};
  const std::int64_t landmarks = layer_.selection.has_landmarks ? 1 : 0, unit = chosen_->unit;
  return {index * unit, (index + 1) * unit - landmarks};
}

std::vector<KeyRun> KeySet::chosen_by(std::int64_t token, std::int64_t head_group) const {
  std::vector<KeyRun> runs;
  for (const std::int64_t index : chosen_->list(token, head_group)) {
    if (index >= 0) runs.push_back(keys_of_entry(index));
  }
  std::ranges::copy(window_of(token, head_group), std::back_inserter(runs));
  return united(std::move(runs));
}

/// The latest keys that a hierarchical selection shows beside its list, without landmarks.
std::vector<KeyRun> KeySet::window_of(std::int64_t token, std::int64_t head_group) const {
  const Selection& rule = layer_.selection;
  const std::int64_t end = prefix_len() + token + 1;
  std::int64_t begin = std::max<std::int64_t>(end - rule.window_of(head_group), 0);
  std::vector<KeyRun> runs;
  for (std::int64_t unit = begin / rule.unit; rule.has_landmarks && begin < end; ++unit) {
    runs.push_back({begin, std::min((unit + 1) * rule.unit - 1, end)});
    begin = (unit + 1) * rule.unit;
  }
  runs.push_back({begin, end});
  return runs;
}

std::vector<KeyRun> KeySet::shown(std::int64_t token) const {
  const bool in_tree = !request_.tree_parents.empty() && layer_.causal && !sees_all();
  std::vector<KeyRun> keys = in_tree                  ? branch(token)
                             : request_.items.empty() ? std::vector{band(token)}
                                                      : of_items(token);
  for (KeyRun& run : keys) {
    run.end = std::min(run.end, request_.keys_read.value_or(request_.kv_len));
  }
  return united(std::move(keys));
}

std::int64_t KeySet::compressed_rows(std::int64_t token) const {
  return layer_.compressed_rows(prefix_len() + token + 1);
}

/// What the mask shows of the tokens, and compressed rows.
std::vector<KeyRun> KeySet::with_compressed(std::int64_t token, std::int64_t head_group) const {
  std::vector<KeyRun> keys = shown(token);
  const KeyRun rows{request_.kv_len, request_.kv_len + compressed_rows(token)};
  const std::vector<KeyRun> seen =
      chosen_ ? intersection({&rows, 1}, chosen_by(token, head_group)) : std::vector{rows};
  keys.insert(keys.end(), seen.begin(), seen.end());
  return united(std::move(keys));
}

std::vector<KeyRun> KeySet::runs(std::int64_t token, std::int64_t head_group) const {
  if (layer_.compress_ratio > 0) return with_compressed(token, head_group);
  const std::vector<KeyRun> keys = shown(token);
  return chosen_ ? intersection(keys, chosen_by(token, head_group)) : keys;
}

/// A mark for each key: lists of many queries name a key again and again. Marks need no order, so
/// that none of the lists is sorted.
std::vector<KeyRun> KeySet::seen_by_group(std::int64_t head_group) const {
  if (!chosen_) return seen();
  const std::int64_t all = layer_.cached_keys(request_.kv_len);
  std::vector<bool> marks(to_size(all));
  for (std::int64_t token = 0; token < request_.q_len; ++token) {
    std::vector<KeyRun> keys = shown(token);
    if (layer_.compress_ratio > 0) {
      for (const KeyRun& run : keys) {
        std::fill(marks.begin() + run.begin, marks.begin() + run.end, true);
      }
      keys = {{request_.kv_len, request_.kv_len + compressed_rows(token)}};
    }
    const auto mark = [&](const KeyRun& listed) {
      for (const KeyRun& run : keys) {
        const std::int64_t begin = std::max(run.begin, listed.begin);
        const std::int64_t end = std::min(run.end, listed.end);
        for (std::int64_t key = begin; key < end; ++key) marks[to_size(key)] = true;
      }
    };
    for (const KeyRun& run : window_of(token, head_group)) mark(run);
    for (const std::int64_t index : chosen_->list(token, head_group)) {
      if (index >= 0) mark(keys_of_entry(index));
    }
  }
  std::vector<KeyRun> keys;
  for (std::int64_t key = 0; key < all; ++key) {
    if (!marks[to_size(key)]) continue;
    if (keys.empty() || keys.back().end < key) keys.push_back({key, key});
    keys.back().end = key + 1;
  }
  return keys;
}

std::vector<KeyRun> KeySet::seen() const {
  if (request_.q_len == 0) return {};
  std::vector<KeyRun> keys;
  if (chosen_) {
    for (std::int64_t group = 0; group < chosen_->groups; ++group) {
      std::ranges::copy(seen_by_group(group), std::back_inserter(keys));
    }
    return united(std::move(keys));
  }
  // Each token sees its own key, and each item ends with a token that sees all of it.
  const std::int64_t end = request_.keys_read.value_or(request_.kv_len);
  std::int64_t delimiter = first_delimiter();
  keys.push_back({first_in_reach(), std::min(end, delimiter)});
  for (const std::int64_t length : request_.items) {
    keys.push_back({delimiter + 1, std::min(end, delimiter + 1 + length)});
    delimiter += length + 1;
  }
  keys.push_back({request_.kv_len, request_.kv_len + compressed_rows(request_.q_len - 1)});
  return united(std::move(keys));
}

std::int64_t KeySet::first_in_reach() const {
  if (sees_all() || !request_.items.empty()) return 0;
  const std::int64_t place = prefix_len(), window = layer_.sliding_window_size;
  const std::int64_t in_chunk = layer_.causal ? chunk_begin(layer_.attention_chunk, place) : 0;
  const KeyRun span = span_of(place);
  std::int64_t first = window < 0 ? in_chunk : std::max(in_chunk, place - window);
  if (span.size() > 0 && layer_.span_rule == SpanRule::kOverride) {
    first = std::min(first, span.begin);
  }
  return std::clamp<std::int64_t>(first, 0, request_.kv_len);
}

/// The end of the query tokens from `token` on of which each sees as many keys more, or fewer, than
/// the one before it as the next one does.
std::int64_t KeySet::end_of_ramp(std::int64_t token) const {
  if (chosen_ || !request_.tree_parents.empty()) return token + 1;
  if (sees_all()) return request_.q_len;
  const std::int64_t own = prefix_len() + token, window = layer_.sliding_window_size;
  std::int64_t end = request_.kv_len;
  const auto may_end_at = [&](std::int64_t position) {
    if (position > own) end = std::min(end, position);
  };
  const std::int64_t keys = request_.keys_read.value_or(request_.kv_len);
  const std::int64_t ahead = layer_.causal ? 0 : window;
  // Where the end of the keys leaves 0, where it stays at the last key, and where the begin of a
  // window leaves its chunk or 0 and meets the last key.
  may_end_at(-ahead);
  may_end_at(keys - 1 - ahead);
  if (window >= 0) {
    may_end_at(chunk_begin(layer_.attention_chunk, own) + window);
    may_end_at(keys + window);
  }
  if (layer_.attention_chunk > 0) {
    may_end_at(chunk_begin(layer_.attention_chunk, own) + layer_.attention_chunk);
  }
  for (const KeyRun& span : request_.spans) {
    may_end_at(span.begin);
    may_end_at(span.end);
    if (window >= 0) may_end_at(span.begin + window);
  }
  if (const std::int64_t ratio = layer_.compress_ratio; ratio > 0) {
    may_end_at(round_up(std::max<std::int64_t>(own + 2, ratio), ratio) - 1);  // one row more
  }
  if (layer_.causal_block > 1) may_end_at(own + layer_.causal_block - token % layer_.causal_block);
  std::int64_t delimiter = first_delimiter();
  for (const std::int64_t length : request_.items) {
    may_end_at(delimiter);
    may_end_at(delimiter + 1);
    delimiter += length + 1;
  }
  may_end_at(delimiter);
  return end - prefix_len();
}

/// As many as runs() has, without memory of their own where they are one: a prompt may have a
/// million blocks.
std::int64_t KeySet::keys_of(std::int64_t token, std::int64_t head_group) const {
  if (!sees_one_run()) return count_keys(runs(token, head_group));
  const KeyRun keys = band(token);
  return std::max<std::int64_t>(
             std::min(keys.end, request_.keys_read.value_or(request_.kv_len)) - keys.begin, 0) +
         compressed_rows(token);
}

std::int64_t KeySet::pairs(std::int64_t head_group) const {
  Count twice = 0;
  for (std::int64_t token = 0, end = 0; token < request_.q_len; token = end) {
    end = end_of_ramp(token);
    const std::int64_t first = keys_of(token, head_group), last = keys_of(end - 1, head_group);
    twice += (Count(first) + last) * (end - token);
  }
  return twice.value() / 2;
}

}  // namespace attnbench
