// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/host_indices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/batch/device_batch.h"
#include "lib/batch/draft_tree.h"
#include "lib/index/testing/test_batch.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;

TEST(HostIndices, have_the_batch_s_own_arrays_and_what_follows_from_them) {
  const TestBatch test(ForwardMode::kExtend, {slots_from(7, 4, 5), slots_from(1, 4, 9)}, {2, 3});
  const HostIndices indices(test.batch, 4);
  const DeviceBatch& batch = indices.batch();
  EXPECT_EQ(batch.req_to_token, test.batch.req_to_token_pool->row(0).data());
  EXPECT_EQ(batch.req_to_token_stride, test.batch.req_to_token_pool->max_context_len());
  EXPECT_EQ(batch.req_pool_indices, test.batch.req_pool_indices.data());
  EXPECT_EQ(batch.block_table_width, 3);
  EXPECT_EQ(batch.custom_mask, nullptr);
  ASSERT_EQ(indices.made().size(), 3u);
  EXPECT_THAT(indices.made()[0].values, ElementsAreArray({5, 9}));
  EXPECT_THAT(indices.made()[1].values, ElementsAreArray({0, 2, 5}));
  EXPECT_THAT(indices.made()[2].values, ElementsAreArray({7, 8, -1, 1, 2, 3}));
  EXPECT_EQ(batch.block_table, indices.made()[2].values.data());
}

TEST(HostIndices, of_a_recurrent_layer_lead_to_states_and_have_no_request_table) {
  TestBatch test(ForwardMode::kDecode, {{1, 2}, {3}}, {1, 1});
  const StatePool pool;
  test.batch.state_pool = &pool;
  test.batch.state_indices = {4, 2};
  test.batch.has_initial_state = {1, 0};
  const HostIndices indices(test.batch, 1);
  EXPECT_EQ(indices.batch().req_to_token, nullptr);
  EXPECT_EQ(indices.batch().block_table, nullptr);
  EXPECT_EQ(indices.batch().kv_lens[0], 2);
  EXPECT_EQ(indices.batch().qo_indptr[2], 2);
  EXPECT_EQ(indices.batch().state_indices[1], 2);
  EXPECT_EQ(indices.batch().has_initial_state[0], 1);
  EXPECT_EQ(indices.batch().retrieve_parent_token, nullptr);
}

TEST(HostIndices, of_drafts_are_masks_of_keys_or_parents_of_states) {
  TestBatch test(ForwardMode::kTargetVerify, {{1, 2, 3}, {4, 5, 6}}, {2, 2});
  test.batch.seq_lens = {1, 1};  // those committed
  test.batch.spec_info =
      make_spec_info(std::vector<std::vector<int>>(2, {-1, 0}), test.batch.seq_lens);
  const SpecInfo& spec = *test.batch.spec_info;
  EXPECT_EQ(HostIndices(test.batch, 1).batch().custom_mask, spec.custom_mask.data());
  EXPECT_EQ(HostIndices(test.batch, 1).batch().retrieve_parent_token, nullptr);
  test.batch.encoder_lens = {3, 3};
  EXPECT_EQ(HostIndices(test.batch, 1).batch().custom_mask, nullptr) << "of the decoder's keys";
  test.batch.encoder_lens.clear();
  const StatePool pool;
  test.batch.state_pool = &pool;
  const HostIndices indices(test.batch, 1);
  EXPECT_EQ(indices.batch().custom_mask, nullptr);
  EXPECT_EQ(indices.batch().retrieve_parent_token, spec.retrieve_parent_token.data());
}

}  // namespace
}  // namespace attnbench
