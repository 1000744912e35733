// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/key_set.h"

#include <gmock/gmock.h>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/batch/draft_tree.h"
#include "lib/batch/graph_padding.h"

namespace attnbench {

void PrintTo(const KeyRun& run, std::ostream* out) { *out << run.begin << ".." << run.end; }

namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;
using Runs = std::vector<KeyRun>;

/// Row-major [q_len, kv_len]; 1 where the query token sees the key.
std::vector<int> dense(const AttentionLayer& layer, const QueriesAndKeys& request) {
  const KeySet keys(layer, request);
  std::vector<int> mask(to_size(request.q_len * request.kv_len), 0);
  for (std::int64_t token = 0; token < request.q_len; ++token) {
    for (const KeyRun& run : keys.runs(token)) {
      for (std::int64_t key = run.begin; key < run.end; ++key) {
        mask[to_size(token * request.kv_len + key)] = 1;
      }
    }
  }
  return mask;
}

TEST(KeySet, is_aligned_to_the_last_key) {
  EXPECT_THAT(dense({}, {.q_len = 2, .kv_len = 3}), ElementsAreArray({1, 1, 0, 1, 1, 1}));
}

TEST(KeySet, of_queries_before_the_first_key_is_empty) {
  EXPECT_THAT(dense({}, {.q_len = 3, .kv_len = 2}), ElementsAreArray({0, 0, 1, 0, 1, 1}));
  EXPECT_THAT(KeySet({}, {.q_len = 3, .kv_len = 2}).runs(0), IsEmpty());
}

TEST(KeySet, of_a_window_of_one_is_a_token_and_the_one_before) {
  AttentionLayer layer;
  layer.sliding_window_size = 1;
  EXPECT_THAT(dense(layer, {.q_len = 2, .kv_len = 4}), ElementsAreArray({0, 1, 1, 0, 0, 0, 1, 1}));
}

TEST(KeySet, of_a_draft_node_is_the_prefix_its_ancestors_and_itself) {
  const QueriesAndKeys request{.q_len = 6, .kv_len = 7, .tree_parents = {-1, 0, 0, 0, 1, 1}};
  EXPECT_THAT(dense({}, request), ElementsAreArray({1, 1, 0, 0, 0, 0, 0,  //
                                                    1, 1, 1, 0, 0, 0, 0,  //
                                                    1, 1, 0, 1, 0, 0, 0,  //
                                                    1, 1, 0, 0, 1, 0, 0,  //
                                                    1, 1, 1, 0, 0, 1, 0,  //
                                                    1, 1, 1, 0, 0, 0, 1}));
}

TEST(KeySet, of_a_window_over_a_draft_tree_counts_indices_or_depths) {
  const QueriesAndKeys request{.q_len = 3, .kv_len = 5, .tree_parents = {-1, 0, 0}};
  AttentionLayer layer;
  layer.sliding_window_size = 2;
  EXPECT_THAT(dense(layer, request), ElementsAreArray({1, 1, 1, 0, 0,  //
                                                       0, 1, 1, 1, 0,  //
                                                       0, 0, 1, 0, 1}));
  layer.window_in_trees = WindowInTrees::kDepth;
  EXPECT_THAT(dense(layer, request), ElementsAreArray({1, 1, 1, 0, 0,  //
                                                       0, 1, 1, 1, 0,  //
                                                       0, 1, 1, 0, 1}));
}

TEST(KeySet, of_an_encoder_s_window_reaches_ahead) {
  AttentionLayer layer;
  layer.causal = false;
  layer.sliding_window_size = 1;
  EXPECT_THAT(dense(layer, {.q_len = 3, .kv_len = 3}),
              ElementsAreArray({1, 1, 0, 1, 1, 1, 0, 1, 1}));
}

TEST(KeySet, of_chunks_begins_anew_with_each) {
  AttentionLayer layer;
  layer.attention_chunk = 2;
  EXPECT_THAT(dense(layer, {.q_len = 4, .kv_len = 5}), ElementsAreArray({1, 1, 0, 0, 0,  //
                                                                         0, 0, 1, 0, 0,  //
                                                                         0, 0, 1, 1, 0,  //
                                                                         0, 0, 0, 0, 1}));
  const QueriesAndKeys request{.q_len = 3, .kv_len = 5, .tree_parents = {-1, 0, 0}};
  layer.attention_chunk = 3;
  EXPECT_THAT(dense(layer, request), ElementsAreArray({1, 1, 1, 0, 0,  //
                                                       0, 0, 0, 1, 0,  //
                                                       0, 0, 0, 0, 1}));
  EXPECT_THAT(describe_mask({.layer = layer}), HasSubstr("the same chunk of 3"));
}

TEST(KeySet, of_blocks_shows_a_block_to_its_queries) {
  AttentionLayer layer;
  layer.causal_block = 2;
  EXPECT_THAT(dense(layer, {.q_len = 3, .kv_len = 4}), ElementsAreArray({1, 1, 1, 0,  //
                                                                         1, 1, 1, 0,  //
                                                                         1, 1, 1, 1}));
  EXPECT_THAT(describe_mask({.layer = layer}), HasSubstr("the end of its block"));
}

TEST(KeySet, of_a_span_ends_with_it_and_begins_by_the_layer_s_rule) {
  const QueriesAndKeys request{.q_len = 8, .kv_len = 8, .spans = {{2, 6}}};
  AttentionLayer layer;
  layer.sliding_window_size = 2;
  const KeySet over(layer, request);
  EXPECT_EQ(over.runs(2), (Runs{{0, 6}}));
  EXPECT_EQ(over.runs(5), (Runs{{2, 6}}));
  EXPECT_EQ(over.runs(6), (Runs{{4, 7}}));
  EXPECT_EQ(KeySet(layer, {.q_len = 2, .kv_len = 7, .spans = {{2, 6}}}).first_in_reach(), 2);
  layer.span_rule = SpanRule::kWithinWindow;
  const KeySet within(layer, request);
  EXPECT_EQ(within.runs(2), (Runs{{0, 6}}));
  EXPECT_EQ(within.runs(3), (Runs{{1, 6}}));
  EXPECT_EQ(within.runs(4), (Runs{{2, 6}}));
  EXPECT_EQ(within.runs(5), (Runs{{3, 6}}));
  EXPECT_EQ(within.runs(6), (Runs{{4, 7}}));
  EXPECT_EQ(KeySet(layer, {.q_len = 2, .kv_len = 7, .spans = {{2, 6}}}).first_in_reach(), 3);
  EXPECT_THAT(describe_mask({.layer = layer, .spans = true}), HasSubstr("behind its own"));
}

TEST(KeySet, keeps_items_apart) {
  const QueriesAndKeys request{.q_len = 6, .kv_len = 9, .items = {2, 1}};
  EXPECT_THAT(dense({}, request), ElementsAreArray({1, 1, 1, 0, 0, 0, 0, 0, 0,  //
                                                    1, 1, 1, 0, 1, 0, 0, 0, 0,  //
                                                    1, 1, 1, 0, 1, 1, 0, 0, 0,  //
                                                    1, 1, 1, 0, 0, 0, 0, 0, 0,  //
                                                    1, 1, 1, 0, 0, 0, 0, 1, 0,  //
                                                    1, 1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_THAT(KeySet({}, request).seen(),
              ElementsAreArray({KeyRun{0, 3}, KeyRun{4, 6}, KeyRun{7, 8}}));
}

TEST(KeySet, of_a_cross_layer_hides_nothing) {
  AttentionLayer layer;
  layer.is_cross_attention = true;
  EXPECT_THAT(dense(layer, {.q_len = 3, .kv_len = 2}), ElementsAreArray({1, 1, 1, 1, 1, 1}));
}

TEST(KeySet, of_a_pass_over_the_prefix_ends_before_the_step_s_own_keys) {
  AttentionLayer layer;
  layer.sliding_window_size = 2;
  const KeySet keys(layer, {.q_len = 3, .kv_len = 6, .keys_read = 3});
  EXPECT_EQ(keys.runs(0), (Runs{{1, 3}}));
  EXPECT_EQ(keys.runs(1), (Runs{{2, 3}}));
  EXPECT_EQ(keys.runs(2), Runs{});
  EXPECT_EQ(keys.pairs(), 3);
  EXPECT_EQ(keys.seen(), (Runs{{1, 3}}));
}

TEST(KeySet, without_queries_has_a_reach_and_shows_nothing) {
  AttentionLayer layer;
  layer.sliding_window_size = 4;
  const KeySet keys(layer, {.q_len = 0, .kv_len = 10});
  EXPECT_EQ(keys.first_in_reach(), 6);
  EXPECT_THAT(keys.seen(), IsEmpty());
  EXPECT_EQ(keys.pairs(), 0);
}

TEST(KeySet, counts_the_pairs_of_long_prompts) {
  AttentionLayer layer;
  const QueriesAndKeys prompt{.q_len = 2'000'000, .kv_len = 2'000'000};
  EXPECT_EQ(KeySet(layer, prompt).pairs(), 2'000'001'000'000);
  layer.attention_chunk = 8192;  // 244 whole chunks and 1152 keys
  EXPECT_EQ(KeySet(layer, prompt).pairs(), 244L * 8192 * 8193 / 2 + 1152L * 1153 / 2);
  layer = {};
  layer.sliding_window_size = 1023;
  EXPECT_EQ(KeySet(layer, prompt).pairs(), 1023L * 1024 / 2 + (2'000'000L - 1023) * 1024);
  EXPECT_THROW((void)KeySet({}, {.q_len = 1L << 33, .kv_len = 1L << 33}).pairs(), ConfigError);
}

TEST(KeySet, of_chosen_keys_is_what_the_mask_leaves_of_them) {
  const QueriesAndKeys request{.q_len = 2, .kv_len = 8};
  // Of two groups of heads: the first chooses one key less than the list has room for.
  const KeySet keys({}, request,
                    ChosenKeys{.indices = {5, 0, -1, 7, 2, 3,  //
                                           6, 0, 1, 7, -1, -1},
                               .lengths = {3, 3, 3, 3},
                               .groups = 2,
                               .width = 3});
  EXPECT_EQ(keys.runs(0, 0), (Runs{{0, 1}, {5, 6}}));
  EXPECT_EQ(keys.runs(0, 1), (Runs{{2, 4}})) << "key 7 is the next query's";
  EXPECT_EQ(keys.runs(1, 0), (Runs{{0, 2}, {6, 7}}));
  EXPECT_EQ(keys.runs(1, 1), (Runs{{7, 8}}));
  EXPECT_EQ(keys.pairs(0), 5);
  EXPECT_EQ(keys.pairs(1), 3);
  EXPECT_EQ(keys.seen(), (Runs{{0, 4}, {5, 8}}));
}

// What lies behind topk_length may be anything; -1 before it names no key.
TEST(KeySet, of_chosen_keys_counts_the_first_topk_length_entries) {
  const auto runs_of = [](std::vector<std::int32_t> list, std::int32_t length) {
    const auto width = std::ssize(list);
    return KeySet({}, {.q_len = 1, .kv_len = 3},
                  ChosenKeys{.indices = std::move(list), .lengths = {length}, .width = width})
        .runs(0);
  };
  const Runs first_and_last{{0, 1}, {2, 3}};
  EXPECT_EQ(runs_of({0, 2}, 2), first_and_last);
  EXPECT_EQ(runs_of({0, 2, -1, -1}, 2), first_and_last);
  EXPECT_EQ(runs_of({-1, 2, -1, 0}, 4), first_and_last);
  EXPECT_EQ(runs_of({0, 2, 1}, 2), first_and_last);
  EXPECT_EQ(runs_of({2, 1, 0}, 3), (Runs{{0, 3}})) << "all keys";
  EXPECT_THAT(runs_of({1, 2}, 0), IsEmpty());
}

TEST(KeySet, of_chosen_keys_counts_a_key_that_its_list_names_twice_once) {
  const KeySet keys({}, {.q_len = 1, .kv_len = 3},
                    ChosenKeys{.indices = {2, 2, 0}, .lengths = {3}, .width = 3});
  EXPECT_EQ(keys.runs(0), (Runs{{0, 1}, {2, 3}}));
  EXPECT_EQ(keys.pairs(), 2);
  const KeySet cut({}, {.q_len = 1, .kv_len = 6},
                   ChosenKeys{.indices = {1, 1, 0}, .lengths = {3}, .width = 3, .unit = 4});
  EXPECT_EQ(cut.pairs(), 2 + 4);
}

TEST(KeySet, of_chosen_pages_ends_inside_the_last_one) {
  const KeySet keys({}, {.q_len = 1, .kv_len = 10},
                    ChosenKeys{.indices = {2, 0, -1}, .lengths = {3}, .width = 3, .unit = 4});
  EXPECT_EQ(keys.runs(0), (Runs{{0, 4}, {8, 10}}));
  EXPECT_EQ(keys.pairs(), 6);
}

TEST(KeySet, of_a_draft_tree_that_fills_a_batch_up_is_empty) {
  ForwardBatch batch;
  batch.forward_mode = ForwardMode::kTargetVerify;
  batch.batch_size = 1;
  batch.req_pool_indices = {3};
  batch.seq_lens = {5};
  batch.out_cache_loc = batch.positions = {5, 6, 6};
  batch.spec_info = make_spec_info(std::vector<std::vector<int>>{{-1, 0, 0}}, batch.seq_lens);
  const ForwardBatch padded = pad_for_cuda_graph(batch, 2, 1);
  EXPECT_EQ(KeySet({}, padded, 0).runs(2), (Runs{{0, 6}, {7, 8}}));
  EXPECT_THAT(KeySet({}, padded, 1).runs(0), IsEmpty());
  EXPECT_THAT(KeySet({}, padded, 1).seen(), IsEmpty());
}

TEST(KeyRuns, are_joined_where_they_touch) {
  EXPECT_EQ(united({{4, 6}, {9, 9}, {0, 2}, {6, 7}, {1, 3}}), (Runs{{0, 3}, {4, 7}}));
  EXPECT_EQ(count_keys(Runs{{0, 3}, {4, 7}}), 6);
}

}  // namespace
}  // namespace attnbench
