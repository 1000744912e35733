// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples that the rules of lib/index are tested by, from a case to what a kernel is given: a
// format must ask its rule for the right layer, lengths and part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/inspect/testing/indices_of.h"
#include "lib/scenario/testing/case_builder.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench {
namespace {

using testing::Each;
using testing::ElementsAre;

Case worked_case(ForwardMode mode, const std::vector<TokenCounts>& lengths) {
  Case c = small_case("worked", mode, plain_layer(32, 8, 128));
  add_requests(c, "some", lengths);
  return c;
}

TEST(WorkedIndices, of_varlen_count_queries_and_keys_apart) {
  const BuiltIndices built =
      indices_of("varlen", worked_case(ForwardMode::kExtend, {{2, 7}, {2, 2}, {5, 10}}));
  EXPECT_THAT(values_of(built, "cu_seqlens_q"), ElementsAre(0, 2, 4, 9));
  EXPECT_THAT(values_of(built, "cu_seqlens_k"), ElementsAre(0, 7, 9, 19));
  EXPECT_THAT(values_of(built, "max_seqlen_q"), ElementsAre(5));
  EXPECT_THAT(values_of(built, "max_seqlen_k"), ElementsAre(10));
}

TEST(WorkedIndices, of_a_window_say_which_key_is_their_first) {
  Case c = worked_case(ForwardMode::kDecode, {{1, 5000}, {1, 100}});
  c.layer.sliding_window_size = 4095;
  const BuiltIndices built = indices_of("csr_window", c);
  EXPECT_THAT(values_of(built, "window_kv_indptr"), ElementsAre(0, 4096, 4196));
  EXPECT_THAT(values_of(built, "window_kv_offsets"), ElementsAre(904, 0));
}

TEST(WorkedIndices, of_a_windows_own_pool_hold_its_tokens_and_no_more) {
  Case c = worked_case(ForwardMode::kExtend, {{3, 10}});
  c.layer.sliding_window_size = 4;  // the first query, at 7, sees the keys from 3 on
  const BuiltIndices built = indices_of("swa", c);
  std::vector<std::int64_t> slots = values_of(built, "swa_page_table");
  ASSERT_EQ(slots.size(), 10u);
  EXPECT_THAT(std::vector(slots.begin(), slots.begin() + 3), Each(0));
  EXPECT_THAT(std::vector(slots.begin() + 3, slots.end()), Each(testing::Gt(0)));
}

TEST(WorkedIndices, of_chunks_cut_queries_and_keys_where_chunks_end) {
  Case c = worked_case(ForwardMode::kExtend, {{4, 6}, {10, 17}, {5, 9}});
  c.layer.attention_chunk = 4;
  c.kv_cache.page_size = 2;
  const BuiltIndices built = indices_of("local_attention", c);
  EXPECT_THAT(values_of(built, "local_query_start_loc"),
              ElementsAre(0, 2, 4, 5, 9, 13, 14, 18, 19));
  EXPECT_THAT(values_of(built, "local_seqused_k"), ElementsAre(4, 2, 4, 4, 4, 1, 4, 1));
}

TEST(WorkedIndices, of_dual_chunks_divide_the_keys_among_three_parts) {
  Case c = worked_case(ForwardMode::kDecode, {{1, 6}, {1, 7}, {1, 13}, {1, 20}});
  c.layer.dual_chunk = {8, 2};
  const BuiltIndices built = indices_of("dual_chunk", c);
  EXPECT_THAT(values_of(built, "seq_lens_intra"), ElementsAre(6, 1, 1, 2));
  EXPECT_THAT(values_of(built, "seq_lens_succ"), ElementsAre(0, 6, 6, 6));
  EXPECT_THAT(values_of(built, "seq_lens_inter"), ElementsAre(0, 0, 6, 12));
  EXPECT_EQ(array_of(built, "block_tables_succ").shape.front(), 4);
}

TEST(WorkedIndices, of_items_begin_behind_the_prefix) {
  Case c = worked_case(ForwardMode::kExtend, {{9, 9}});
  c.requests[0].items = {2, 1};
  const BuiltIndices built = indices_of("multi_item", c);
  EXPECT_THAT(values_of(built, "prefix_len_ptr"), ElementsAre(3));
  EXPECT_THAT(values_of(built, "token_pos_in_items_ptr"), ElementsAre(0, 1, 2, 0, 1, 0));
  EXPECT_THAT(values_of(built, "max_item_len_ptr"), ElementsAre(2));
}

TEST(WorkedIndices, of_flashmla_have_a_part_for_each_64_query_rows) {
  Case c = small_mla();
  c.layer.heads_q = 128;  // of 132 multiprocessors
  const auto parts = [](const Case& of) {
    return array_of(indices_of("flashmla", of), "tile_scheduler_metadata").shape.front();
  };
  EXPECT_EQ(parts(c), 66);
  c.mode = ForwardMode::kTargetVerify;
  for (Request& request : c.requests) {
    request.q_len = 2;
    request.kv_len += 1;
    request.tree_parents = {-1, 0};
  }
  EXPECT_EQ(parts(c), 33);
}

TEST(WorkedIndices, of_splits_count_the_heads_of_a_group_and_the_keys_of_a_window) {
  Case mqa = worked_case(ForwardMode::kDecode, std::vector<TokenCounts>(64, {1, 1024}));
  mqa.layer.heads_q = 128;
  mqa.layer.heads_kv = 1;
  EXPECT_THAT(values_of(indices_of("kv_splits", mqa), "num_kv_splits"), Each(2));
  Case window = worked_case(ForwardMode::kDecode, {{1, 1000}});
  window.layer.sliding_window_size = 299;  // 300 keys with the own one
  const BuiltIndices built = indices_of("kv_splits", window);
  EXPECT_THAT(values_of(built, "num_kv_splits_deterministic"), ElementsAre(2));
  EXPECT_THAT(values_of(built, "num_kv_splits_as_described"), ElementsAre(1));
}

TEST(WorkedIndices, of_a_tree_link_first_children_and_siblings) {
  const BuiltIndices mask = indices_of("tree_mask", small_tree_verify());
  const auto of_request_0 = [&](std::string_view name) {
    std::vector<std::int64_t> links = values_of(mask, name);
    links.resize(6);
    return links;
  };
  EXPECT_THAT(of_request_0("retrive_index"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(of_request_0("retrive_next_token"), ElementsAre(1, 4, -1, -1, -1, -1));
  EXPECT_THAT(of_request_0("retrive_next_sibling"), ElementsAre(-1, 2, 3, -1, 5, -1));
}

}  // namespace
}  // namespace attnbench
