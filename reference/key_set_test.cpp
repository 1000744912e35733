// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// KeySet and the oracle's masks are written apart: random geometries in which they must agree.
#include "lib/batch/key_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "lib/base/narrow.h"
#include "lib/batch/draft_tree.h"
#include "lib/batch/multi_item.h"
#include "reference/visible_keys.h"

namespace attnbench::reference {
namespace {

struct Draw {
  std::mt19937_64 random{7};

  std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::int64_t n) { return (*this)(1, n) == 1; }
  template <class Values>
  auto of(const Values& values) {
    return values[static_cast<std::size_t>((*this)(0, std::ssize(values) - 1))];
  }
};

std::vector<std::int64_t> keys_of_runs(const std::vector<KeyRun>& runs) {
  std::vector<std::int64_t> keys;
  for (const KeyRun& run : runs) {
    EXPECT_TRUE(keys.empty() || keys.back() + 1 < run.begin) << "runs that touch";
    for (std::int64_t key = run.begin; key < run.end; ++key) keys.push_back(key);
  }
  return keys;
}

/// Every key that the oracle shows before key `most`, and whether `keys` says the same of each
/// token, of all together and of their number.
void expect_equal(const AttentionLayer& layer, const Request& request, const KeySet& keys,
                  std::int64_t most, int head = 0) {
  const int group = layer.selection_group(head);
  std::set<std::int64_t> seen;
  std::int64_t pairs = 0;
  for (std::int64_t token = 0; token < request.q_len; ++token) {
    std::vector<std::int64_t> expected;
    keys_seen_by(layer, request, token, head).for_each_in(0, most, [&](VisibleKeys::Key key) {
      expected.push_back(key.index);
      seen.insert(key.index);
      ++pairs;
    });
    EXPECT_EQ(keys_of_runs(keys.runs(token, group)), expected) << "token " << token;
  }
  EXPECT_EQ(keys.pairs(group), pairs);
  EXPECT_EQ(keys_of_runs(keys.seen_by_group(group)), std::vector(seen.begin(), seen.end()));
  if (layer.selection.exists()) return;
  EXPECT_EQ(keys_of_runs(keys.seen()), std::vector(seen.begin(), seen.end()));
  if (!seen.empty() && request.items.empty()) {
    EXPECT_EQ(keys.first_in_reach(), *seen.begin());
  }
}

/// The request as the only one of a step.
ForwardBatch batch_of(const AttentionLayer& layer, const Request& request) {
  ForwardBatch batch;
  batch.batch_size = 1;
  batch.req_pool_indices = {1};
  const bool tree = !request.tree_parents.empty();
  batch.forward_mode = tree ? ForwardMode::kTargetVerify : ForwardMode::kExtend;
  batch.seq_lens = {narrow_i32(request.kv_len - (tree ? request.q_len : 0))};
  batch.extend_seq_lens = {narrow_i32(request.q_len)};
  if (layer.is_cross_attention) batch.encoder_lens = {narrow_i32(request.kv_len)};
  batch.extend_start_loc = {0};
  for (std::int64_t t = 0; !request.spans.empty() && t < request.q_len; ++t) {
    KeyRun span;
    for (const KeyRun& each : request.spans) {
      if (each.holds(request.prefix_len() + t)) span = each;
    }
    batch.spans.push_back(narrow_i32(span.begin));
    batch.spans.push_back(narrow_i32(span.end));
  }
  if (tree) batch.spec_info = make_spec_info({&request.tree_parents, 1}, batch.seq_lens);
  if (!request.items.empty()) {
    batch.multi_item = make_multi_item_params({&request.kv_len, 1}, {&request.items, 1});
  }
  return batch;
}

TEST(KeySet, shows_what_the_oracle_shows_in_random_geometries) {
  Draw draw;
  for (int round = 0; round < 1500; ++round) {
    AttentionLayer layer;
    Request request;
    const bool tree = draw.one_in(3), items = !tree && draw.one_in(5);
    request.q_len = draw(0, 20);
    if (tree) {
      const std::int64_t nodes = draw(1, 12);
      for (std::int64_t node = 0; node < nodes; ++node) {
        request.tree_parents.push_back(node == 0 ? -1 : narrow_i32(draw(0, node - 1)));
      }
      request.q_len = std::ssize(request.tree_parents);
    }
    request.kv_len = request.q_len + draw(0, 40);
    if (items) {
      for (std::int64_t item = draw(1, 4); item > 0; --item) request.items.push_back(draw(1, 6));
      request.q_len = tokens_of_items(request.items) + draw(0, 8);
      request.kv_len = request.q_len + draw(0, 9);
    } else {
      if (draw.one_in(2)) layer.sliding_window_size = draw(0, 30);
      if (draw.one_in(2)) layer.window_in_trees = WindowInTrees::kDepth;
      layer.is_cross_attention = draw.one_in(8);
      layer.causal = tree || !draw.one_in(5);
      if (layer.causal && !tree && draw.one_in(3)) layer.causal_block = draw(2, 12);
      // Queries may outnumber keys, but not by blocks.
      if (!tree && layer.causal_block == 1 && draw.one_in(4)) {
        request.kv_len = draw(0, request.q_len);
      }
      if (layer.causal && layer.causal_block == 1 && draw.one_in(3)) {
        layer.attention_chunk = draw(1, 30);
      }
      if (!tree && layer.causal && layer.causal_block == 1 && layer.attention_chunk == 0 &&
          !layer.is_cross_attention && draw.one_in(2)) {
        if (draw.one_in(2)) layer.span_rule = SpanRule::kWithinWindow;
        for (std::int64_t begin = draw(0, 20); begin < request.kv_len;) {
          const std::int64_t end = begin + draw(1, 20);
          request.spans.push_back({begin, end});
          begin = end + draw(0, 9);
        }
      }
    }
    SCOPED_TRACE("round " + std::to_string(round));
    const ForwardBatch batch = batch_of(layer, request);
    const std::int64_t prefix = std::max<std::int64_t>(request.prefix_len(), 0);
    expect_equal(layer, request, key_set_of(layer, request), request.kv_len);
    expect_equal(layer, request, KeySet(layer, batch, 0), request.kv_len);
    if (!layer.is_cross_attention) {
      expect_equal(layer, request, KeySet(layer, batch, 0, true), prefix);
    }
    if (HasFailure()) break;
  }
}

TEST(KeySet, shows_the_compressed_rows_that_the_oracle_shows) {
  Draw draw;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    AttentionLayer layer;
    layer.family = Family::kLatent;
    layer.heads_q = 4;
    layer.heads_kv = 1;
    layer.compress_ratio = draw(1, 9);
    if (draw.one_in(2)) layer.sliding_window_size = draw(0, 20);
    if (draw.one_in(2)) {
      layer.selection = {.topk = draw(1, 9),
                         .unit = layer.compress_ratio,
                         .pattern = draw.of(kDrawnPatterns),
                         .padding = draw.of(kSelectionPaddings),
                         .compressed = true};
    }
    Request request{.q_len = draw(0, 20)};
    request.kv_len = draw.one_in(4) ? draw(0, request.q_len) : request.q_len + draw(0, 60);
    request.selection_seed = draw.random();
    ForwardBatch batch = batch_of(layer, request);
    if (layer.selection.exists()) {
      batch.chosen =
          choose_keys(layer, request.prefix_len(), request.q_len, request.selection_seed);
    }
    const std::int64_t most = layer.cached_keys(request.kv_len);
    expect_equal(layer, request, key_set_of(layer, request), most);
    expect_equal(layer, request, KeySet(layer, batch, 0), most);
    if (HasFailure()) break;
  }
}

TEST(KeySet, shows_the_chosen_keys_that_the_oracle_shows) {
  Draw draw;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    AttentionLayer layer;
    layer.heads_q = 4;
    layer.heads_kv = 2;
    layer.selection = {.topk = draw(1, 12),
                       .unit = draw(1, 5),
                       .groups = draw.of(kSelectionGroups),
                       .pattern = draw.of(kDrawnPatterns),
                       .padding = draw.of(kSelectionPaddings)};
    if (layer.selection.goes_by_pages()) layer.selection.page_size = draw(1, 9);
    Request request{.q_len = draw(0, 20)};
    request.kv_len = draw.one_in(4) ? draw(0, request.q_len) : request.q_len + draw(0, 60);
    request.selection_seed = draw.random();
    ForwardBatch batch = batch_of(layer, request);
    batch.chosen = choose_keys(layer, request.prefix_len(), request.q_len, request.selection_seed);
    for (const int head : {0, 1, 2, 3}) {
      expect_equal(layer, request, key_set_of(layer, request), request.kv_len, head);
      expect_equal(layer, request, KeySet(layer, batch, 0), request.kv_len, head);
    }
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace attnbench::reference
