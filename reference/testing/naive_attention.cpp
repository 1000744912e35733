// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/testing/naive_attention.h"

#include <cmath>
#include <limits>
#include <vector>

#include "lib/batch/chosen_keys.h"

namespace attnbench::reference {
namespace {

using Real = long double;

/// Position in the text of key `key`; draft tokens of a tree lie at their depth.
std::int64_t text_position(const Request& request, std::int64_t key) {
  std::int64_t node = key - request.prefix_len();
  if (request.tree_parents.empty() || node < 0) return key;
  std::int64_t depth = 0;
  while ((node = request.tree_parents[static_cast<std::size_t>(node)]) >= 0) ++depth;
  return request.prefix_len() + depth;
}

bool descends_from(const Request& request, std::int64_t node, std::int64_t ancestor) {
  if (node < 0) return false;
  return node == ancestor ||
         descends_from(request, request.tree_parents[static_cast<std::size_t>(node)], ancestor);
}

/// What a token of a prompt with items is part of: 0 the prefix, -1 a delimiter, n the n-th item.
std::int64_t part_of(const Request& request, std::int64_t place) {
  std::int64_t behind = request.kv_len - 1 - place;  // tokens after this one
  if (behind == 0) return -1;
  for (auto n = std::ssize(request.items); n > 0; --n) {
    const std::int64_t length = request.items[static_cast<std::size_t>(n - 1)];
    if (behind <= length) return n;
    behind -= length + 1;
    if (behind == 0) return -1;
  }
  return 0;
}

/// Press et al., arXiv:2108.12409: the ratio from slope to slope is the first slope.
Real alibi_slope_of(int head, int heads) {
  int power = 1;
  while (power * 2 <= heads) power *= 2;
  const bool inside = head < power;
  const Real ratio = std::pow(Real{2}, Real{-8} / static_cast<Real>(inside ? power : 2 * power));
  return std::pow(ratio, static_cast<Real>(inside ? head + 1 : 2 * (head - power) + 1));
}

/// Softmax state after some keys: everything relative to exp(max).
struct Running {
  Real max = -std::numeric_limits<Real>::infinity();
  Real sum = 0;
  std::vector<Real> out, a, b_squared;

  void rescale(Real larger) {
    const Real factor = std::exp(max - larger);
    sum *= factor;
    for (Real& x : out) x *= factor;
    for (Real& x : a) x *= factor;
    for (Real& x : b_squared) x *= factor * factor;
    max = larger;
  }
};

/// All heads share one, those of a KV head do, or none does.
std::int64_t lists_of_token(const AttentionLayer& layer) {
  if (layer.selection.groups == SelectionGroups::kOne) return 1;
  return layer.selection.groups == SelectionGroups::kHeads ? layer.heads_q : layer.heads_kv;
}

/// How often the list of the token under `head` names the key.
std::int64_t times_named(const Case& c, const Request& request, std::int64_t token,
                         std::int64_t key, int head) {
  const Selection& rule = c.layer.selection;
  const ChosenKeys lists = lists_of(c.layer, request, 0, request.q_len);
  const std::int64_t groups = lists_of_token(c.layer);
  const std::int64_t group = head * groups / c.layer.heads_q;
  const std::int64_t list = token * groups + group;
  const bool sees_window = rule.fuses_window || group < rule.window_heads;
  const std::int64_t own = request.kv_len - request.q_len + token;
  std::int64_t times = sees_window && key + rule.window > own ? 1 : 0;
  for (std::int64_t i = 0; i < lists.lengths[static_cast<std::size_t>(list)]; ++i) {
    times +=
        lists.indices[static_cast<std::size_t>(list * rule.topk + i)] == key / rule.unit ? 1 : 0;
  }
  return times;
}

/// How often a compressed row takes part: not before its last token, and as often as a list names
/// it where there is one.
std::int64_t times_of_row(const Case& c, const Request& request, std::int64_t token,
                          std::int64_t row, int head) {
  const std::int64_t last_token = row * c.layer.compress_ratio + c.layer.compress_ratio - 1;
  if (last_token > request.kv_len - request.q_len + token) return 0;
  if (c.layer.selection.topk == 0) return 1;
  return times_named(c, request, token, row * c.layer.selection.unit, head);
}

/// Weights e^z of the entries of the list of the token under `head` that hold the key, added up; 0
/// where there are none. `largest` takes the largest |z|.
Real weight_of_unit(const Case& c, const Request& request, std::int64_t token, std::int64_t key,
                    int head, double& largest) {
  const Selection& rule = c.layer.selection;
  const ChosenKeys lists = lists_of(c.layer, request, 0, request.q_len);
  const std::int64_t groups = lists_of_token(c.layer);
  const std::int64_t list = token * groups + head * groups / c.layer.heads_q;
  Real weight = 0;
  for (std::int64_t i = 0; i < lists.lengths[static_cast<std::size_t>(list)]; ++i) {
    const auto at = static_cast<std::size_t>(list * rule.topk + i);
    const bool holds = lists.indices[at] >= 0 && lists.indices[at] == key / rule.unit;
    if (!holds) continue;
    weight += std::exp(static_cast<Real>(lists.scores[at]));
    largest = std::max(largest, static_cast<double>(std::abs(lists.scores[at])));
  }
  return weight;
}

bool mask_shows(const Case& c, const Request& request, std::int64_t token, std::int64_t key) {
  if (c.layer.is_cross_attention) return true;
  const std::int64_t own = request.kv_len - request.q_len + token;
  if (!request.items.empty()) {
    const std::int64_t part = part_of(request, key);
    return key <= own && part >= 0 && (part == 0 || part == part_of(request, own));
  }
  bool same_span = false;
  for (const KeyRun& span : request.spans) {
    same_span |= own >= span.begin && own < span.end && key >= span.begin && key < span.end;
  }
  if (same_span && c.layer.span_rule == SpanRule::kOverride) return true;
  if (c.layer.sliding_window_size >= 0) {
    const bool depth = c.layer.window_in_trees == WindowInTrees::kDepth;
    const std::int64_t behind =
        depth ? text_position(request, own) - text_position(request, key) : own - key;
    if (behind > c.layer.sliding_window_size) return false;
    if (!c.layer.causal && -behind > c.layer.sliding_window_size) return false;
  }
  if (!c.layer.causal) return true;
  if (const std::int64_t chunk = c.layer.attention_chunk; chunk > 0) {
    // Places of a draft tree's nodes count like all others.
    if (own >= 0 && key / chunk != own / chunk) return false;
  }
  if (c.layer.causal_block > 1 && key >= request.prefix_len()) {
    return (key - request.prefix_len()) / c.layer.causal_block <= token / c.layer.causal_block;
  }
  if (request.tree_parents.empty()) return key <= own || same_span;
  return key < request.prefix_len() || descends_from(request, token, key - request.prefix_len());
}

}  // namespace

std::int64_t naive_times_seen(const Case& c, const Request& request, std::int64_t token,
                              std::int64_t key, int head) {
  if (key >= request.kv_len) return times_of_row(c, request, token, key - request.kv_len, head);
  if (c.layer.compress_ratio > 0) return mask_shows(c, request, token, key) ? 1 : 0;
  if (!mask_shows(c, request, token, key)) return 0;
  if (c.layer.selection.has_landmarks && (key + 1) % c.layer.selection.unit == 0) return 0;
  return c.layer.selection.topk > 0 ? times_named(c, request, token, key, head) : 1;
}

namespace {

Real number(const RowScale& scale, const std::vector<float>& stored, std::size_t d) {
  return static_cast<Real>(stored[d]) * static_cast<Real>(scale.at(static_cast<std::uint32_t>(d)));
}

/// The queries of a row, and what they make of keys.
class Query {
 public:
  Query(const Case& c, const Contents& contents, const RowId& id)
      : c_(c),
        contents_(contents),
        id_(id),
        request_(c.requests[static_cast<std::size_t>(id.request)]),
        own_(request_.kv_len - request_.q_len + id.token),
        q_(static_cast<std::size_t>(c.layer.query_dim())) {
    contents.q_row(id.request, id.token, id.head, q_);
    scale_ = static_cast<Real>(contents.q_scale(id.request, id.token, id.head));
  }

  [[nodiscard]] Real heat() const {
    const auto len = static_cast<Real>(c_.layer.temperature_len);
    const bool late = len > 0 && own_ > c_.layer.temperature_len;
    return late ? std::log(static_cast<Real>(own_)) / std::log(len) : Real{1};
  }

  /// The key's logit; `magnitude` takes scale * sum_d |q_d| |k_d|.
  [[nodiscard]] Real logit(std::int64_t key, Real& magnitude) const {
    const AttentionLayer& layer = c_.layer;
    const auto dk = static_cast<std::size_t>(layer.head_dim_qk);
    const int kv_head = id_.head / (layer.heads_q / layer.heads_kv);
    std::vector<float> k(dk);
    contents_.k_row(id_.request, key, kv_head, k);
    const RowScale k_scale = contents_.k_scale(id_.request, key, kv_head);
    std::size_t form = 0;  // of the query: by the distance of its chunk from the key's
    if (layer.dual_chunk.chunk_size > 0) {
      const std::int64_t c_keys = layer.dual_chunk.chunk_size - layer.dual_chunk.local_size;
      form = static_cast<std::size_t>(std::min<std::int64_t>(own_ / c_keys - key / c_keys, 2));
    }
    Real logit = 0;
    magnitude = 0;
    for (std::size_t d = 0; d < dk; ++d) {
      const Real product = static_cast<Real>(q_[form * dk + d]) * scale_ * number(k_scale, k, d);
      logit += product;
      magnitude += std::abs(product);
    }
    logit *= static_cast<Real>(layer.scale);
    magnitude *= static_cast<Real>(layer.scale);
    if (layer.logit_cap > 0) {
      const auto cap = static_cast<Real>(layer.logit_cap);
      logit = cap * std::tanh(logit / cap);
    }
    logit *= heat();
    if (layer.has_alibi) {
      const auto distance = text_position(request_, key) - text_position(request_, own_);
      logit -= alibi_slope_of(id_.head, layer.heads_q * layer.ranks) *
               std::abs(static_cast<Real>(distance));
    }
    return logit;
  }

  /// What is added to the logits of a key whose list's entry has a softmax of its own, and which
  /// takes part `times`; `s` takes the largest |score|.
  [[nodiscard]] Real unit_shift(std::int64_t key, std::int64_t times, double& s) const {
    const std::int64_t unit = c_.layer.selection.unit;
    if (c_.layer.selection.softmax == SelectionSoftmax::kKeys) return 0;
    const Real weight = weight_of_unit(c_, request_, id_.token, key, id_.head, s);
    if (weight == 0) return 0;
    Real sum = 0, ignored = 0;
    const std::int64_t seen = unit - (c_.layer.selection.has_landmarks ? 1 : 0);
    for (std::int64_t j = key / unit * unit; j < key / unit * unit + seen; ++j) {
      sum += std::exp(logit(j, ignored));
    }
    return std::log(weight / static_cast<Real>(times)) - std::log(sum);
  }

 private:
  const Case& c_;
  const Contents& contents_;
  const RowId& id_;
  const Request& request_;
  std::int64_t own_;  ///< place of the query
  std::vector<float> q_;
  Real scale_ = 1;
};

}  // namespace

ReferenceRow naive_row(const Case& c, const Contents& contents, const RowId& id) {
  const AttentionLayer& layer = c.layer;
  const Request& request = c.requests[static_cast<std::size_t>(id.request)];
  const int kv_head = id.head / (layer.heads_q / layer.heads_kv);
  const auto dk = static_cast<std::size_t>(layer.head_dim_qk);
  const auto dv = static_cast<std::size_t>(layer.head_dim_v);
  std::vector<float> k(dk), v(dv);
  const Query query(c, contents, id);

  ReferenceRow row;
  row.id = id;
  row.temperature = static_cast<double>(query.heat());
  Running state;
  state.out = state.a = state.b_squared = std::vector<Real>(dv, 0);
  Real largest = state.max;
  const std::int64_t ratio = layer.compress_ratio;
  const std::int64_t rows = ratio > 0 ? request.kv_len / ratio : 0;
  for (std::int64_t key = 0; key < request.kv_len + rows; ++key) {
    const std::int64_t times = naive_times_seen(c, request, id.token, key, id.head);
    if (times == 0) continue;
    row.visible += times;
    contents.k_row(id.request, key, kv_head, k);
    contents.v_row(id.request, key, kv_head, v);
    const RowScale v_scale = contents.v_scale(id.request, key, kv_head);
    Real magnitude = 0;
    Real logit = query.logit(key, magnitude);
    row.s = std::max(row.s, static_cast<double>(query.heat() * magnitude));
    logit += query.unit_shift(key, times, row.s);
    const auto copies = static_cast<Real>(times);
    const Real of_all = logit + std::log(copies);
    largest = std::max(largest, of_all);
    if (of_all > state.max) state.rescale(of_all);
    const Real weight = copies * std::exp(logit - state.max);
    state.sum += weight;
    const bool latent = layer.family == Family::kLatent;
    for (std::size_t d = 0; d < dv; ++d) {
      // A latent row is its own value.
      const Real value = number(v_scale, latent ? k : v, d);
      row.v_max = std::max(row.v_max, static_cast<double>(std::abs(value)));
      state.out[d] += weight * value;
      state.a[d] += weight * std::abs(value);
      state.b_squared[d] += weight * weight * value * value;
    }
  }
  const Real of_keys = state.max + std::log(state.sum);
  if (layer.has_sinks) {
    const auto sink = static_cast<Real>(contents.sink(id.head));
    if (sink > state.max) state.rescale(sink);
    state.sum += std::exp(sink - state.max);
  }
  row.lse = static_cast<double>(state.max + std::log(state.sum));
  const bool without_sink = layer.selection.topk > 0 || ratio > 0;
  if (without_sink) row.lse = static_cast<double>(of_keys);
  if (row.visible == 0 && without_sink) {
    row.lse = -std::numeric_limits<double>::infinity();
  }
  if (state.sum == 0) row.lse = -std::numeric_limits<double>::infinity();
  if (state.sum != 0) row.denominator = static_cast<double>(state.sum);
  if (row.visible > 0) row.p_max = static_cast<double>(std::exp(largest - state.max) / state.sum);
  for (std::size_t d = 0; d < dv; ++d) {
    const Real sum = state.sum == 0 ? Real{1} : state.sum;
    row.out.push_back(static_cast<double>(state.out[d] / sum));
    row.a.push_back(static_cast<double>(state.a[d] / sum));
    row.b.push_back(static_cast<double>(std::sqrt(state.b_squared[d]) / sum));
  }
  return row;
}

}  // namespace attnbench::reference
