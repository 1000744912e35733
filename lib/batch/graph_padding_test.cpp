// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/graph_padding.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/batch/chosen_keys.h"
#include "lib/batch/draft_tree.h"
#include "lib/batch/multi_item.h"
#include "lib/batch/positions.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;

ForwardBatch decode() {
  ForwardBatch batch;
  batch.forward_mode = ForwardMode::kDecode;
  batch.batch_size = 2;
  batch.req_pool_indices = {3, 1};
  batch.seq_lens = {7, 5};
  batch.seq_lens_sum = 12;
  batch.out_cache_loc = {40, 41};
  batch.positions = decode_positions(batch.seq_lens);
  return batch;
}

/// Of two trees of three nodes.
ForwardBatch verify() {
  ForwardBatch batch = decode();
  batch.forward_mode = ForwardMode::kTargetVerify;
  const std::vector<std::vector<int>> trees(2, {-1, 0, 0});
  batch.spec_info = make_spec_info(trees, batch.seq_lens);
  batch.positions = verify_positions(batch.seq_lens, trees);
  batch.out_cache_loc = {40, 41, 42, 43, 44, 45};
  return batch;
}

TEST(GraphPadding, sends_padding_requests_to_pool_row_0_and_slot_0) {
  for (const std::int32_t fill : {0, 1}) {
    const ForwardBatch padded = pad_for_cuda_graph(decode(), 4, fill);
    EXPECT_EQ(padded.batch_size, 4);
    EXPECT_EQ(padded.forward_mode, ForwardMode::kDecode);
    EXPECT_THAT(padded.req_pool_indices, ElementsAreArray({3, 1, 0, 0}));
    EXPECT_THAT(padded.seq_lens, ElementsAreArray({7, 5, fill, fill}));
    EXPECT_EQ(padded.seq_lens_sum, 12 + 2 * fill);
    EXPECT_THAT(padded.out_cache_loc, ElementsAreArray({40, 41, 0, 0}));
    EXPECT_THAT(padded.positions, ElementsAreArray({6, 4, 0, 0}));
    EXPECT_EQ(padded.kv_len(3), fill);
    EXPECT_FALSE(is_padding(padded, 1));
    EXPECT_TRUE(is_padding(padded, 2));
  }
}

TEST(GraphPadding, gives_padding_empty_lists_of_chosen_keys) {
  AttentionLayer layer;
  layer.selection.topk = 3;
  ForwardBatch batch = decode();
  batch.chosen = choose_keys(layer, 6, 2, 1);
  const std::vector<std::int32_t> lists = batch.chosen->indices;
  for (const ForwardBatch& padded :
       {with_padding(batch, 2, 1), with_padding_tokens(batch, 2), step_to_record(batch, 4, 1)}) {
    ASSERT_EQ(padded.chosen->lengths.size(), 4u);
    ASSERT_EQ(padded.chosen->indices.size(), 12u);
    EXPECT_TRUE(padded.chosen->list(3, 0).empty());
    EXPECT_EQ(padded.chosen->indices.back(), -1);
  }
  const ForwardBatch padded = with_padding(batch, 2, 1);
  EXPECT_TRUE(std::equal(lists.begin(), lists.end(), padded.chosen->indices.begin()));
  EXPECT_TRUE(step_to_record(batch, 4, 1).chosen->list(0, 0).empty());
}

TEST(GraphPadding, gives_padding_requests_no_items) {
  ForwardBatch batch = decode();
  batch.forward_mode = ForwardMode::kExtend;
  batch.extend_prefix_lens = {0, 0};
  batch.extend_seq_lens = {7, 5};
  batch.extend_start_loc = {0, 7};
  batch.extend_num_tokens = 12;
  batch.multi_item = make_multi_item_params(std::vector<std::int64_t>{7, 5},
                                            std::vector<std::vector<std::int64_t>>{{2, 1}, {}});
  for (const std::int32_t fill : {0, 1}) {
    const MultiItemParams items = with_padding(batch, 2, fill).multi_item.value();
    EXPECT_THAT(items.prefix_len_ptr, ElementsAreArray({1, 5, fill, fill})) << "all of their keys";
    EXPECT_THAT(items.max_item_len_ptr, ElementsAreArray({2, 0, 0, 0}));
    EXPECT_EQ(items.token_pos_in_items_len, 6);
    EXPECT_EQ(items.token_pos_in_items_ptr.size(), 4u * 6);
  }
}

TEST(GraphPadding, gives_padding_requests_of_an_extend_no_query) {
  ForwardBatch batch = decode();
  batch.forward_mode = ForwardMode::kExtend;
  batch.extend_prefix_lens = {5, 0};
  batch.extend_seq_lens = {2, 5};
  batch.extend_start_loc = {0, 2};
  batch.extend_num_tokens = 7;
  batch.positions = extend_positions(batch.extend_prefix_lens, batch.extend_seq_lens);
  batch.out_cache_loc = {40, 41, 42, 43, 44, 45, 46};
  const ForwardBatch padded = with_padding(batch, 2, 1);
  EXPECT_EQ(padded.batch_size, 4);
  EXPECT_THAT(padded.req_pool_indices, ElementsAreArray({3, 1, 0, 0}));
  EXPECT_THAT(padded.seq_lens, ElementsAreArray({7, 5, 1, 1}));
  EXPECT_THAT(padded.extend_prefix_lens, ElementsAreArray({5, 0, 0, 0}));
  EXPECT_THAT(padded.extend_seq_lens, ElementsAreArray({2, 5, 0, 0}));
  EXPECT_THAT(padded.extend_start_loc, ElementsAreArray({0, 2, 7, 7}));
  EXPECT_EQ(padded.out_cache_loc, batch.out_cache_loc);
  EXPECT_EQ(padded.positions, batch.positions);
}

TEST(PaddingTokens, stand_behind_the_tokens_of_all_requests_at_slot_0_and_position_0) {
  const ForwardBatch padded = with_padding_tokens(decode(), 3);
  EXPECT_EQ(padded.batch_size, 2);
  EXPECT_EQ(padded.q_tokens(), 5);
  EXPECT_EQ(tokens_of_requests(padded), 2);
  EXPECT_THAT(padded.out_cache_loc, ElementsAreArray({40, 41, 0, 0, 0}));
  EXPECT_THAT(padded.positions, ElementsAreArray({6, 4, 0, 0, 0}));
  EXPECT_EQ(padded.seq_lens, decode().seq_lens);
  const ForwardBatch both = with_padding_tokens(with_padding(verify(), 1, 1), 2);
  EXPECT_EQ(both.q_tokens(), 11);
  EXPECT_EQ(tokens_of_requests(both), 9);
  EXPECT_EQ(real_tokens(both), 6);
}

TEST(PaddingTokens, are_no_part_of_a_step_that_is_padded_for_a_graph) {
  const ForwardBatch padded = pad_for_cuda_graph(with_padding_tokens(verify(), 7), 4, 1);
  EXPECT_EQ(padded.q_tokens(), 12);
  EXPECT_THAT(padded.out_cache_loc, ElementsAreArray({40, 41, 42, 43, 44, 45, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(step_to_record(with_padding_tokens(decode(), 7), 3, 1).q_tokens(), 3);
}

TEST(GraphPadding, gives_padding_requests_of_a_recurrent_layer_no_state) {
  ForwardBatch batch = decode();
  const StatePool pool;
  batch.state_pool = &pool;
  batch.state_indices = {5, 2};
  batch.has_initial_state = {1, 1};
  const ForwardBatch padded = pad_for_cuda_graph(batch, 4, 1);
  EXPECT_THAT(padded.state_indices, ElementsAreArray({5, 2, kPaddingState, kPaddingState}));
  EXPECT_THAT(padded.has_initial_state, ElementsAreArray({1, 1, 0, 0}));
  const ForwardBatch recorded = step_to_record(batch, 3, 1);
  EXPECT_THAT(recorded.state_indices,
              ElementsAreArray({kPaddingState, kPaddingState, kPaddingState}));
  EXPECT_THAT(recorded.has_initial_state, ElementsAreArray({0, 0, 0}));
  EXPECT_THAT(pad_for_cuda_graph(decode(), 4, 1).state_indices, testing::IsEmpty());
}

TEST(GraphPadding, leaves_a_batch_of_the_captured_size_as_it_is) {
  const ForwardBatch padded = pad_for_cuda_graph(decode(), 2, 1);
  EXPECT_EQ(padded.seq_lens, decode().seq_lens);
  EXPECT_EQ(padded.seq_lens_sum, 12);
  EXPECT_EQ(padded.positions, decode().positions);
}

TEST(GraphPadding, gives_padding_requests_draft_nodes_that_see_nothing) {
  const ForwardBatch batch = verify();
  const ForwardBatch padded = pad_for_cuda_graph(batch, 3, 1);
  EXPECT_EQ(padded.q_tokens(), 9);
  EXPECT_EQ(padded.kv_len(2), 1 + 3);
  const SpecInfo& spec = *padded.spec_info;
  EXPECT_THAT(spec.mask_indptr, ElementsAreArray({0, 30, 54, 54 + 12}));
  ASSERT_EQ(spec.custom_mask.size(), 66u);
  for (std::size_t i = 0; i < spec.custom_mask.size(); ++i) {
    EXPECT_EQ(spec.custom_mask[i], i < 54 ? batch.spec_info->custom_mask[i] : 0);
  }
  EXPECT_EQ(spec.retrive_next_token.size(), 9u);
  EXPECT_EQ(spec.retrive_next_token.back(), -1);
  EXPECT_THAT(spec.retrieve_parent_token, ElementsAreArray({-1, 0, 0, -1, 0, 0, -1, -1, -1}));
}

TEST(GraphPadding, gives_padding_requests_of_a_cross_attention_no_keys) {
  ForwardBatch batch = decode();
  batch.encoder_lens = {1500, 900};
  const ForwardBatch padded = pad_for_cuda_graph(batch, 3, 1);
  EXPECT_THAT(padded.encoder_lens, ElementsAreArray({1500, 900, 0}));
  EXPECT_EQ(padded.kv_len(2), 0);
}

TEST(GraphPadding, makes_an_idle_rank_decode_padding) {
  ForwardBatch idle;
  const ForwardBatch padded = pad_for_cuda_graph(idle, 2, 1);
  EXPECT_EQ(padded.forward_mode, ForwardMode::kDecode);
  EXPECT_EQ(padded.batch_size, 2);
  EXPECT_TRUE(is_padding(padded, 0));
}

TEST(StepToRecord, is_nothing_but_padding) {
  ForwardBatch batch = decode();
  batch.encoder_lens = {1500, 900};
  const ForwardBatch step = step_to_record(batch, 3, 1);
  EXPECT_EQ(step.forward_mode, ForwardMode::kDecode);
  EXPECT_EQ(step.batch_size, 3);
  EXPECT_THAT(step.req_pool_indices, ElementsAreArray({0, 0, 0}));
  EXPECT_THAT(step.seq_lens, ElementsAreArray({1, 1, 1}));
  EXPECT_EQ(step.seq_lens_sum, 3);
  EXPECT_THAT(step.out_cache_loc, ElementsAreArray({0, 0, 0}));
  EXPECT_THAT(step.positions, ElementsAreArray({0, 0, 0}));
  EXPECT_THAT(step.encoder_lens, ElementsAreArray({0, 0, 0}));
}

TEST(StepToRecord, has_as_many_draft_nodes_as_the_steps_that_follow) {
  const ForwardBatch step = step_to_record(verify(), 4, 0);
  EXPECT_EQ(step.forward_mode, ForwardMode::kTargetVerify);
  EXPECT_EQ(step.q_tokens(), 12);
  EXPECT_EQ(step.spec_info->mask_indptr.size(), 5u);
  EXPECT_EQ(step.spec_info->retrive_next_token.size(), 12u);
  EXPECT_EQ(step.spec_info->retrieve_parent_token, std::vector<std::int32_t>(12, -1));
}

TEST(GraphPadding, refuses_what_no_graph_is_captured_for) {
  EXPECT_THAT([] { static_cast<void>(pad_for_cuda_graph(decode(), 1, 0)); },
              testing::ThrowsMessage<InternalError>(testing::HasSubstr("larger")));
  ForwardBatch extend = decode();
  extend.forward_mode = ForwardMode::kExtend;
  EXPECT_THROW(static_cast<void>(pad_for_cuda_graph(extend, 4, 0)), InternalError);
}

}  // namespace
}  // namespace attnbench
