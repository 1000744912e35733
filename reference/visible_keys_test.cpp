// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/visible_keys.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace attnbench::reference {
namespace {

Request request_of(std::int64_t q_len, std::int64_t kv_len) {
  Request request;
  request.q_len = q_len;
  request.kv_len = kv_len;
  return request;
}

std::vector<std::int64_t> indices(const AttentionLayer& layer, const Request& request,
                                  std::int64_t token) {
  std::vector<std::int64_t> seen;
  const VisibleKeys keys = keys_seen_by(layer, request, token);
  keys.for_each_in(0, request.kv_len, [&](VisibleKeys::Key key) { seen.push_back(key.index); });
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), keys.count());
  return seen;
}

using Keys = std::vector<std::int64_t>;

TEST(VisibleKeys, causal_queries_are_the_last_tokens) {
  EXPECT_EQ(indices({}, request_of(2, 3), 0), (Keys{0, 1}));
  EXPECT_EQ(indices({}, request_of(2, 3), 1), (Keys{0, 1, 2}));
}

TEST(VisibleKeys, a_decode_sees_all_of_its_request) {
  EXPECT_EQ(indices({}, request_of(1, 4), 0), (Keys{0, 1, 2, 3}));
}

TEST(VisibleKeys, queries_that_outnumber_keys_see_nothing_first) {
  EXPECT_EQ(indices({}, request_of(4, 2), 0), Keys{});
  EXPECT_EQ(indices({}, request_of(4, 2), 1), Keys{});
  EXPECT_EQ(indices({}, request_of(4, 2), 2), (Keys{0}));
  AttentionLayer windowed;
  windowed.sliding_window_size = 1;
  EXPECT_EQ(indices(windowed, request_of(4, 2), 0), Keys{});
}

TEST(VisibleKeys, a_window_counts_previous_keys_without_the_own_one) {
  AttentionLayer layer;
  layer.sliding_window_size = 4095;  // sliding_window 4096 in a Hugging Face config
  const VisibleKeys seen = keys_seen_by(layer, request_of(1, 5000), 0);
  EXPECT_EQ(std::pair(seen.begin, seen.end), (std::pair<std::int64_t, std::int64_t>(904, 5000)));
  EXPECT_EQ(seen.count(), 4096);
  layer.sliding_window_size = 0;
  EXPECT_EQ(indices(layer, request_of(2, 5), 0), (Keys{3}));
}

TEST(VisibleKeys, cross_and_bidirectional_attention_see_everything) {
  AttentionLayer cross, bidirectional;
  cross.is_cross_attention = true;
  bidirectional.causal = false;
  EXPECT_EQ(indices(cross, request_of(7, 3), 0), (Keys{0, 1, 2}));
  EXPECT_EQ(indices(bidirectional, request_of(3, 3), 0), (Keys{0, 1, 2}));
}

TEST(VisibleKeys, a_window_does_not_apply_to_cross_attention) {
  AttentionLayer cross;
  cross.is_cross_attention = true;
  cross.sliding_window_size = 0;
  EXPECT_EQ(indices(cross, request_of(2, 3), 1), (Keys{0, 1, 2}));
}

TEST(VisibleKeys, every_draft_node_sees_all_of_an_encoder) {
  AttentionLayer cross;
  cross.is_cross_attention = true;
  cross.causal = false;
  Request request = request_of(4, 3);
  request.tree_parents = {-1, 0, 0, 1};
  for (std::int64_t node = 0; node < 4; ++node) {
    EXPECT_EQ(indices(cross, request, node), (Keys{0, 1, 2}));
  }
}

TEST(VisibleKeys, a_draft_node_sees_prefix_ancestors_and_itself) {
  // The root has children 1, 2, 3; node 1 has 4 and 5.
  Request request = request_of(6, 3 + 6);
  request.tree_parents = {-1, 0, 0, 0, 1, 1};
  EXPECT_EQ(indices({}, request, 0), (Keys{0, 1, 2, 3}));
  EXPECT_EQ(indices({}, request, 2), (Keys{0, 1, 2, 3, 5}));
  EXPECT_EQ(indices({}, request, 5), (Keys{0, 1, 2, 3, 4, 8}));
  std::vector<std::int64_t> nodes, positions;
  for (std::int64_t token = 0; token < 6; ++token) {
    nodes.push_back(keys_seen_by({}, request, token).count() - 3);
    positions.push_back(query_position(request, token));
  }
  EXPECT_EQ(nodes, (Keys{1, 2, 2, 2, 3, 3}));
  EXPECT_EQ(positions, (Keys{3, 4, 4, 4, 5, 5}));
}

TEST(VisibleKeys, a_window_over_a_draft_tree_counts_depth_not_siblings) {
  Request request = request_of(6, 10 + 6);
  request.tree_parents = {-1, 0, 0, 0, 1, 1};
  AttentionLayer layer;
  layer.window_in_trees = WindowInTrees::kDepth;
  layer.sliding_window_size = 3;
  EXPECT_EQ(indices(layer, request, 3), (Keys{8, 9, 10, 13}));   // position 11
  EXPECT_EQ(indices(layer, request, 5), (Keys{9, 10, 11, 15}));  // position 12
  layer.sliding_window_size = 1;
  EXPECT_EQ(indices(layer, request, 5), (Keys{11, 15}));  // the root is out of reach
}

TEST(VisibleKeys, a_window_by_index_counts_every_node_before_the_query) {
  Request request = request_of(6, 10 + 6);
  request.tree_parents = {-1, 0, 0, 0, 1, 1};
  AttentionLayer layer;  // q <= k + W of SGLang's extend kernel, places among the keys
  layer.sliding_window_size = 4;
  EXPECT_EQ(indices(layer, request, 3), (Keys{9, 10, 13}));  // index 13
  EXPECT_EQ(indices(layer, request, 5), (Keys{11, 15}));     // index 15: the root is out of reach
  layer.sliding_window_size = 6;
  EXPECT_EQ(indices(layer, request, 5), (Keys{9, 10, 11, 15}));
}

TEST(VisibleKeys, chunks_in_a_draft_tree_count_indices_beside_a_window_by_depth) {
  Request request = request_of(6, 10 + 6);
  request.tree_parents = {-1, 0, 0, 0, 1, 1};
  AttentionLayer layer;
  layer.window_in_trees = WindowInTrees::kDepth;
  layer.attention_chunk = 4;
  EXPECT_EQ(indices(layer, request, 1), (Keys{8, 9, 10, 11}));
  EXPECT_EQ(indices(layer, request, 3), (Keys{13})) << "position 11, index 13";
  EXPECT_EQ(indices(layer, request, 5), (Keys{15})) << "position 12, index 15";
  layer.attention_chunk = 11;
  EXPECT_EQ(indices(layer, request, 5), (Keys{11, 15}));
}

TEST(VisibleKeys, of_a_span_are_all_of_it_or_what_the_window_leaves) {
  // A window of 3 keys and a span 2..5 of 8 keys: vLLM's mm_prefix and Gemma 4.
  Request request = request_of(8, 8);
  request.spans = {{2, 6}};
  AttentionLayer layer;
  layer.sliding_window_size = 2;
  EXPECT_EQ(indices(layer, request, 1), (Keys{0, 1}));
  EXPECT_EQ(indices(layer, request, 2), (Keys{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(indices(layer, request, 5), (Keys{2, 3, 4, 5}));
  EXPECT_EQ(indices(layer, request, 6), (Keys{4, 5, 6}));
  layer.span_rule = SpanRule::kWithinWindow;
  EXPECT_EQ(indices(layer, request, 2), (Keys{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(indices(layer, request, 3), (Keys{1, 2, 3, 4, 5}));
  EXPECT_EQ(indices(layer, request, 4), (Keys{2, 3, 4, 5}));
  EXPECT_EQ(indices(layer, request, 5), (Keys{3, 4, 5}));
  EXPECT_EQ(indices(layer, request, 6), (Keys{4, 5, 6}));
  request = request_of(2, 4);  // a chunk of the prompt, inside of the span
  request.spans = {{0, 6}};
  layer.span_rule = SpanRule::kOverride;
  layer.sliding_window_size = 0;
  EXPECT_EQ(indices(layer, request, 0), (Keys{0, 1, 2, 3}));
  layer.span_rule = SpanRule::kWithinWindow;
  EXPECT_EQ(indices(layer, request, 0), (Keys{2, 3}));
}

TEST(VisibleKeys, an_encoder_s_window_reaches_as_far_ahead_as_back) {
  AttentionLayer layer;
  layer.causal = false;
  layer.sliding_window_size = 2;  // (w - 1, w - 1) for w = 3
  EXPECT_EQ(indices(layer, request_of(6, 6), 0), (Keys{0, 1, 2}));
  EXPECT_EQ(indices(layer, request_of(6, 6), 3), (Keys{1, 2, 3, 4, 5}));
  EXPECT_EQ(indices(layer, request_of(6, 6), 5), (Keys{3, 4, 5}));
  EXPECT_EQ(indices(layer, request_of(2, 6), 0), (Keys{2, 3, 4, 5}));
}

TEST(VisibleKeys, of_a_chunked_layer_are_those_of_the_query_s_own_chunk) {
  AttentionLayer layer;
  layer.attention_chunk = 8192;
  const auto decode = [&](std::int64_t kv_len) {
    const VisibleKeys seen = keys_seen_by(layer, request_of(1, kv_len), 0);
    return std::pair(seen.begin, seen.end);
  };
  EXPECT_EQ(decode(8192), std::pair(0L, 8192L));
  EXPECT_EQ(decode(8193), std::pair(8192L, 8193L)) << "the first key of a chunk is alone in it";
  EXPECT_EQ(decode(100'000), std::pair(98'304L, 100'000L));

  for (const std::int64_t chunk : {1, 3, 6, 64}) {
    layer.attention_chunk = chunk;
    for (const std::int64_t window : {-1, 0, 2, 9}) {
      layer.sliding_window_size = window;
      for (std::int64_t token = 0; token < 20; ++token) {
        Keys expected;
        const std::int64_t i = 5 + token;
        for (std::int64_t j = 0; j <= i; ++j) {
          if (j / chunk == i / chunk && (window < 0 || i - j <= window)) expected.push_back(j);
        }
        EXPECT_EQ(indices(layer, request_of(20, 25), token), expected) << chunk << ' ' << window;
      }
    }
  }
  layer = {};
  layer.attention_chunk = 2;
  EXPECT_EQ(indices(layer, request_of(5, 2), 1), (Keys{})) << "a query in front of all keys";
  EXPECT_EQ(indices(layer, request_of(5, 2), 4), (Keys{0, 1}));
}

TEST(VisibleKeys, of_a_draft_node_are_in_the_chunk_of_its_place_among_the_keys) {
  Request request = request_of(6, 10 + 6);
  request.tree_parents = {-1, 0, 0, 0, 1, 1};
  AttentionLayer layer;
  layer.attention_chunk = 4;
  EXPECT_EQ(indices(layer, request, 0), (Keys{8, 9, 10}));
  EXPECT_EQ(indices(layer, request, 1), (Keys{8, 9, 10, 11}));
  EXPECT_EQ(indices(layer, request, 2), (Keys{12})) << "its parent lies in the chunk before";
  layer.attention_chunk = 5;
  EXPECT_EQ(indices(layer, request, 0), (Keys{10}));
  EXPECT_EQ(indices(layer, request, 4), (Keys{10, 11, 14}));
  EXPECT_EQ(indices(layer, request, 5), (Keys{15}));
}

TEST(VisibleKeys, by_blocks_are_those_up_to_the_end_of_the_query_s_block) {
  AttentionLayer layer;
  layer.causal_block = 3;
  EXPECT_EQ(indices(layer, request_of(7, 9), 0), (Keys{0, 1, 2, 3, 4}));
  EXPECT_EQ(indices(layer, request_of(7, 9), 2), (Keys{0, 1, 2, 3, 4}));
  EXPECT_EQ(indices(layer, request_of(7, 9), 3), (Keys{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(indices(layer, request_of(7, 9), 6), (Keys{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  layer.sliding_window_size = 1;
  EXPECT_EQ(indices(layer, request_of(7, 9), 0), (Keys{1, 2, 3, 4}));
  EXPECT_EQ(indices(layer, request_of(7, 9), 2), (Keys{3, 4}));
  layer.sliding_window_size = -1;
  layer.causal_block = 100;
  EXPECT_EQ(indices(layer, request_of(2, 4), 0), (Keys{0, 1, 2, 3}));
}

TEST(VisibleKeys, of_an_item_are_the_prefix_and_the_item_up_to_the_query) {
  Request request = request_of(9, 9);
  request.items = {2, 1};  // prefix 3, token_pos_in_items 0 1 2 0 1 0
  EXPECT_EQ(indices({}, request, 2), (Keys{0, 1, 2}));
  EXPECT_EQ(indices({}, request, 3), (Keys{0, 1, 2})) << "a delimiter sees the prefix alone";
  EXPECT_EQ(indices({}, request, 4), (Keys{0, 1, 2, 4}));
  EXPECT_EQ(indices({}, request, 5), (Keys{0, 1, 2, 4, 5}));
  EXPECT_EQ(indices({}, request, 6), (Keys{0, 1, 2}));
  EXPECT_EQ(indices({}, request, 7), (Keys{0, 1, 2, 7}));
  EXPECT_EQ(indices({}, request, 8), (Keys{0, 1, 2}));
  request.q_len = 7;  // behind two cached tokens
  EXPECT_EQ(indices({}, request, 0), (Keys{0, 1, 2}));
  EXPECT_EQ(indices({}, request, 3), (Keys{0, 1, 2, 4, 5}));
}

TEST(VisibleKeys, a_chain_is_the_causal_mask) {
  Request chain = request_of(4, 9);
  chain.tree_parents = {-1, 0, 1, 2};
  for (const std::int64_t window : {-1, 0, 2, 20}) {
    AttentionLayer layer;
    layer.sliding_window_size = window;
    layer.attention_chunk = window == 0 ? 3 : 0;
    layer.window_in_trees = window == 2 ? WindowInTrees::kDepth : WindowInTrees::kIndex;
    for (std::int64_t token = 0; token < 4; ++token) {
      EXPECT_EQ(indices(layer, chain, token), indices(layer, request_of(4, 9), token));
    }
  }
}

}  // namespace
}  // namespace attnbench::reference
